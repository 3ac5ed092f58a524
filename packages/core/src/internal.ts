/** What `@svc/auth` and `@svc/webhooks` build with. Not for hosts: it changes without notice. */
export { bootOnCore, useCore } from './plugin.ts'
export { hasServer, hostUnderTest } from './core-of.ts'
export type { Core } from './core.ts'
export type { ErrorAnswer, ErrorText } from './http/error-body.ts'
export type { Db } from './postgres/transaction.ts'
export type { DeadLetter, FanOutJob, Job } from './jobs/job.ts'
export { isSealed, type Cipher } from './encryption/key-ring.ts'
export { deleteKeysWithPrefix, type DeduplicationKey } from './kv/kv-table.ts'
export { MOST_COUNTED, type RecoveryRequest } from './jobs/queues.ts'
export {
  endedSpan,
  noteOpenTransactions,
  tryLockRecoveries,
  listRecoveries,
  setCounted,
  sweepRecoveries,
  type RecoveredPortion,
  type Recovery,
} from './jobs/recipients/work-table.ts'
export { deleteOldDeadLetters, type DeadLetterFilter } from './jobs/pg-boss/dead-letters.ts'
export { isRestricted } from './jobs/pg-boss/recipient-states-table.ts'
export type { Notifications } from './postgres/notifications.ts'
export {
  EVERYWHERE,
  isTenant,
  narrowedReach,
  reaches,
  reachOf,
  TENANT,
  TENANT_PATTERN,
  tenantOfNew,
  withinReach,
  type Reach,
} from './tenants/tenants.ts'
export { pageOf } from './http/pagination.ts'
export { cutPage, listNewest } from './newest-list.ts'
export { foundBy, Search } from './tenants/search.ts'
export { tenantListOf, type TenantListPage } from './tenant-list.ts'
export { callerFor } from './audit/on-behalf-of.ts'
export type { TenantPart } from './tenant-erasure.ts'
export {
  AuditEntry,
  AuditQuery,
  changesOf,
  isUserId,
  MASKED,
  USER_ID,
} from './audit/audit-entry.ts'
export {
  BY_PROCESS,
  BY_SYSTEM,
  actorOf,
  originOf,
  storedOrigin,
  type AuditOrigin,
} from './audit/audit-origin.ts'
export {
  findAuditedTargets,
  insertAudit,
  listAudit,
  type AuditRecord,
} from './audit/audit-table.ts'
export {
  failedAsLost,
  unsentOutcome,
  type Ended,
  type Outcome,
  type Recorder,
  type Result,
  type Settled,
  type Worker,
  type WorkerTelemetry,
} from './jobs/worker.ts'
export { idsOfTenant, publishedEventId, storedEventId, tenantOfEvent } from './events/event-id.ts'
export { FeedDeleted, type FeedReader } from './events/feed.ts'
export { deletePause, insertPause } from './jobs/pauses-table.ts'
export type { FeedRow, Place } from './events/feed-table.ts'
export type {
  Attributes,
  Counter,
  Histogram,
  Meter,
  Span,
  Tracer,
} from './telemetry/instruments.ts'
export { traceHeadersOf } from './telemetry/trace-context.ts'
export { isUuid, uuidOf, uuidv7 } from './ids.ts'
export { AttachedFunction, type AttachedRow } from './events/publish-sql.ts'
export type { CatalogueEntry } from './events/catalogue.ts'
export { compileFilter, compileFilterMatch } from './events/filter/compile-filter.ts'
export { DeferredFilters } from './events/filter/deferred-filters.ts'
export { subjectOf } from './events/filter/field-path.ts'
export { STEPS_OF_DEAR } from './events/filter/work-bound.ts'
export { UndecidedFilters } from './events/filter/undecided-filters.ts'
export { KEY_EVENTS, OWN_EVENTS } from './events/own-events.ts'
export { EVERY_EVENT, isEventPattern, isMeantBy, namesThatMean } from './events/event-patterns.ts'
export { checkedHostEventName, isEventName } from './events/validate-event.ts'
export {
  findPayloadSizes,
  findPayloads,
  retainEvents,
  type EventKey,
  type StoredEvent,
} from './events/events-table.ts'
export { createError, type SvcError, type SvcErrorClass } from './create-error.ts'
export { isConnectionError } from './postgres/connection-errors.ts'
export { isContention, isStatementTimeout } from './postgres/contention.ts'
export type { Input } from './options/input.ts'
export { wordedPattern } from './options/patterns.ts'
export { storableJson, storableText } from './postgres/storable.ts'
export { orUnavailable, whyNotNow } from './postgres/unavailable.ts'
export { ADVISORY_LOCKS } from './postgres/advisory-locks.ts'
export { findLiveProcesses, longestDays } from './processes/processes-table.ts'
export { checkedInput } from './actions/validate-input.ts'
export {
  Anything,
  methodsOf,
  Nothing,
  operationFor,
  registerActions,
  shapeOf,
  type ListPage,
  type Operation,
  type OperationDefinition,
  type OperationCaller,
} from './actions/define-operation.ts'
export { operationRoutes } from './http/operation-routes.ts'
export { answerPlainly, hideRoutes, managementApi } from './http/management-api.ts'
export { hasOwnAccess, withOwnAccess } from './http/call-gate.ts'
export { isDryRun, withoutGate } from './http/call-gate.ts'
export { readingFor } from './postgres/readers.ts'
export { statusText } from './http/status-text.ts'
export {
  ErrorBody,
  errorResponses,
  STORABLE_TEXT,
  nullable,
  Tenant,
  TenantFilter,
} from './http/schemas.ts'
export {
  isBoolean,
  isFunction,
  isIntegerFrom,
  isPlainObject,
  isStorableText,
  isString,
  kindOf,
  resolveOptions,
  type OptionRule,
  type OptionRules,
  type ResolvedOptions,
} from './options/check-options.ts'
export { installed } from './installed.ts'
export { packageFolder } from './package-folder.ts'
export { isLockConflict } from './migrations/lock-retries.ts'
export { pause, Timer, within } from './time.ts'
export { checkAll } from './upkeep/check-all.ts'
export { planAll } from './upkeep/plan-all.ts'
export { migrateAll, type Outcome as UpkeepOutcome } from './upkeep/migrate-all.ts'
export { withDatabase } from './upkeep/with-database.ts'
export {
  declaredOptions,
  inspectHosts,
  inspectMigrations,
  inspectRights,
  inspectServer,
  inspectStuck,
  type HostFacts,
  type ServerFacts,
} from './upkeep/inspect.ts'
export type { FailingWebhooks } from './upkeep/installed-packages.ts'
export { VERSION } from './package-folder.ts'
