import '@svc/core/node-version'

export { SvcModule, type SvcModuleAsyncOptions, type SvcModuleOptions } from './svc-module.ts'
export { SvcService } from './svc-service.ts'
export { SvcHealthIndicator, type SvcHealthResult } from './health-indicator.ts'
export { Caller, PublicRoute, Scopes } from './decorators.ts'
export { NotOnFastify } from './errors.ts'
