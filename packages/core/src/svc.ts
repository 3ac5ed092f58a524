import type { CoreServices } from './core.ts'

/**
 * What `fastify.svc` offers, to be extended by the plugins that add to it:
 * `declare module '@svc/core' { interface Svc { webhooks: WebhookOperations } }`
 */
export interface Svc extends CoreServices {}
