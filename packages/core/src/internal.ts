/** What `@svc/auth` and `@svc/webhooks` build with. Not for hosts: it changes without notice. */
export { bootOnCore, useCore } from './plugin.ts'
export type { Core, FanOut } from './core.ts'
export type { Db } from './postgres/pools.ts'
export type { DeadLetter, FanOutJob, Job, NewJob } from './jobs/job.ts'
export type { Claim } from './kv/key-value-store.ts'
export type { Queues } from './jobs/job-queues.ts'
export { deleteOldDeadLetters } from './jobs/pg-boss/dead-letters.ts'
export type { AskOptions, Signals } from './postgres/notifications.ts'
export type { Outcome, Result, Settled, Worker } from './jobs/worker.ts'
export { isUuid, uuidv7, derivedId } from './ids.ts'
export { isEventName } from './events/event-api.ts'
export { findPayloadSizes, findPayloads, keepEvents } from './events/events-table.ts'
export { isAway } from './postgres/pools.ts'
export { longestDays } from './processes/processes-table.ts'
export { defineAction } from './actions/define-action.ts'
export { readOperation, writeOperation } from './actions/define-operation.ts'
export { checkedInput } from './actions/validate-input.ts'
export { ErrorBody, managementApi } from './http/management-api.ts'
export { EmptyBody, errorResponses, nullable, optionalBody } from './http/schemas.ts'
export { linkNext, page, pageQuery, type PageQuery } from './http/pagination.ts'
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
} from './options/core-options.ts'
