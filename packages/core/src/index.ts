import './node-version.ts'

export { svcCore, svcCore as default } from './plugin.ts'
export type { SvcCoreOptions, WorkerOptions } from './options.ts'
export type { Svc } from './core.ts'
export type { Actions } from './actions.ts'
// With a star, so that `declare module '@svc/core'` can extend the interface.
export * from './svc-actions.ts'
export type {
  EventContext,
  EventHandler,
  Events,
  PublishOptions,
  PublishResult,
  SubscribeOptions,
} from './events.ts'
export type { EntryOptions, KeyValueStore } from './kv.ts'
export type { Secrets } from './secrets.ts'
export type { Jobs } from './jobs.ts'
export type { Db } from './database.ts'
export * from './errors.ts'
