import './node-version.ts'

export { svcCore, svcCore as default } from './plugin.ts'
export { createSvc, type CreateSvcOptions, type SvcWithoutServer } from './create-svc.ts'
export type { DatabaseConfig } from './postgres/host-list.ts'
export type { SvcCoreOptions, WorkerOptions } from './core-options.ts'
// With a star, so that `declare module '@svc/core'` can extend the interface.
export * from './svc.ts'
export type { Actions } from './actions/actions.ts'
export type { NamedActions, OperationOptions } from './actions/define-operation.ts'
// With a star for the same reason.
export * from './actions/svc-actions.ts'
// With a star for the same reason.
export * from './events/svc-events.ts'
export {
  defineEvents,
  type EventDefinition,
  type EventDefinitions,
  type EventsOf,
} from './events/define-events.ts'
export type { EventValidation } from './events/catalogue.ts'
export type {
  DeadLetterOptions,
  EventContext,
  EventHandler,
  Events,
  PublishOptions,
  PublishResult,
  RedriveOptions,
  SubscribeOptions,
  SubscriptionDeadLetter,
} from './events/event-api.ts'
export type { EventQuery, FoundEvent, FoundEvents } from './events/event-search.ts'
export type { Health, Paused } from './health/health.ts'
export type { FailingTask, TaskHealth } from './jobs/periodic-tasks.ts'
export type { QueueCount } from './jobs/pg-boss/queue-counts-table.ts'
export type { EntryOptions, KeyValueStore } from './kv/key-value-store.ts'
export type { Audit } from './audit/audit.ts'
export type { AuditActor, AuditChanges, AuditEntry, AuditQuery } from './audit/audit-entry.ts'
export type { OnBehalfOf } from './audit/on-behalf-of.ts'
export type { ErrorAnswer, ShapeErrorBody } from './http/error-body.ts'
export type { Secrets } from './secrets.ts'
export type { ErasedRows } from './tenant-erasure.ts'
export type { Jobs } from './jobs/pg-boss/boss-interface.ts'
export type { Db } from './postgres/db.ts'
export type { TransactionOptions } from './postgres/host-transactions.ts'
export {
  ActionTaken,
  ActionUnknown,
  AlreadyRegistered,
  VersionsDiffer,
  DatabaseFailed,
  Busy,
  Closed,
  CitusUnusable,
  DatabaseNotUtf8,
  DatabaseTooOld,
  DatabaseUnreachable,
  DecryptionFailed,
  ForeignTenant,
  IncompleteHost,
  InvalidAction,
  InvalidEntry,
  InvalidEventId,
  InvalidEventName,
  InvalidFilter,
  InvalidInput,
  InvalidOption,
  InvalidPayload,
  InvalidSecret,
  InvalidSubscription,
  InvalidTransaction,
  JobsSchemaDiffers,
  MigrationBlocked,
  ListTooLong,
  NotDrained,
  NoTransaction,
  PayloadMismatch,
  ReservedEventName,
  RightsMissing,
  SchemaMissing,
  SchemaTooNew,
  SubscriptionTaken,
  TransactionRolledBack,
  Unavailable,
} from './errors.ts'
export type { SvcError, SvcErrorClass } from './create-error.ts'
