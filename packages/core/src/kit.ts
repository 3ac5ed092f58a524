/** What `@svc/auth` and `@svc/webhooks` build with. Not for hosts: it changes without notice. */
export { bootOnCore, useCore } from './plugin.ts'
export type { Core, FanOut } from './core.ts'
export type { Db } from './database.ts'
export type { DeadLetter, FanOutJob, Job, NewJob } from './job.ts'
export type { Claim } from './kv.ts'
export type { Queues } from './queues.ts'
export { sweepDeadLettersOf } from './dead-letters.ts'
export type { AskOptions, Signals } from './signals.ts'
export type { Outcome, Settled, Worker } from './worker.ts'
export { isUuid, uuidv7, derivedId } from './ids.ts'
export { isEventName } from './events.ts'
export { findPayloadSizes, findPayloads, keepEvents } from './event-log.ts'
export { isAway } from './database.ts'
export { longestDays } from './processes.ts'
export { defineAction } from './define-action.ts'
export { checkedInput } from './validation.ts'
export { ErrorBody, managementApi } from './management-api.ts'
export { linkNext, page, pageQuery, type PageQuery } from './pagination.ts'
export {
  isBoolean,
  isFunction,
  isIntegerFrom,
  isPlainObject,
  isString,
  kindOf,
  settleOptions,
  type OptionRule,
  type OptionRules,
} from './options.ts'
