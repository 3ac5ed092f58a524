/** Inserts into and reads the table of delivery attempts. delivery-log-days.ts deletes from it. */
import type { Db } from '@svc/core'
import {
  FIRST_PARAMETER,
  JOB_IDS,
  type InsertCompleted,
  type RecordedRetries,
} from '@svc/core/internal'
import type { DeliveryAttempt } from '../delivery-schemas.ts'
import { newestMs, spansBack, type LogSpan } from './log-spans.ts'

/** An attempt as it is stored. */
export interface LogRow extends Omit<DeliveryAttempt, 'payload'> {
  /** JSON text; null where the event holds it. */
  payload: string | null
  /**
   * The time from the publish to the first attempt, in milliseconds: for the statistics, not in the
   * log.
   */
  firstAttemptMs?: number
}

/** The columns that an attempt fills, with their types. */
const INSERTED = {
  id: 'uuid',
  webhook_id: 'uuid',
  event: 'text',
  event_id: 'text',
  payload: 'text',
  delivery_id: 'uuid',
  attempt: 'integer',
  status: 'text',
  status_code: 'smallint',
  error: 'text',
  duration_ms: 'integer',
  response_body: 'text',
  attempted_at: 'timestamptz',
  next_attempt_at: 'timestamptz',
  url: 'text',
  is_test: 'boolean',
}
const NAMES = Object.keys(INSERTED).join(', ')
const GIVEN = NAMES.replaceAll(/\b(\w+)/g, 'attempt.$1')

/** The tenant of the webhook of `attempt`. That of a deleted one is kept while rows may follow. */
const TENANT = `coalesce(
  (select tenant from svc."__svc.webhooks.registrations" where id = attempt.webhook_id),
  (select tenant from svc."__svc.webhooks.deleted_webhooks" where id = attempt.webhook_id))`

/** The columns of {@link columnsOf}: those of the log, and what only the statistics are given. */
const COLUMNS = { ...INSERTED, first_attempt_ms: 'integer' }

/** The rows of {@link columnsOf}, which begin with the parameter `$first`, numbered as `n`. */
const rowsFrom = (first: number): string => {
  const types = Object.values(COLUMNS)
  const arrays = types.map((type, index) => `$${first + index}::${type}[]`)
  return `unnest(${arrays.join(', ')}) with ordinality as attempt (${Object.keys(COLUMNS).join(', ')}, n)`
}

/** Writes the rows `written` into the log. */
const LOGGED = `, logged as (
    insert into svc."__svc.webhooks.delivery_log" (${NAMES}, tenant)
    select ${NAMES}, tenant from written
  )`

/** Writes what the statistics count of the rows `written`. */
const INSERT_COUNTED = `insert into svc."__svc.webhooks.recent_attempts"
    (at, webhook_id, tenant, event, status, duration_ms, first_attempt_ms)
  select attempted_at, webhook_id, tenant, event, status, duration_ms, first_attempt_ms
    from written`

const INSERT_WRITTEN = `${LOGGED} ${INSERT_COUNTED}`

export async function insertLogRows(db: Db, rows: LogRow[]): Promise<void> {
  if (rows.length === 0) return
  await db.query(
    `with written as materialized (
       select ${GIVEN}, attempt.first_attempt_ms, ${TENANT} as tenant from ${rowsFrom(1)}
     ) ${INSERT_WRITTEN}`,
    columnsOf(rows),
  )
}

/** Inserts rows as a part of the statement that settles their jobs, one for each: see `recordCompleted`. */
export function insertOfCompleted(rows: LogRow[]): InsertCompleted {
  const values = columnsOf(rows)
  return rows.length === 1
    ? { insert: INSERT_OF_COMPLETED_ONE, values: values.flat() }
    : { insert: INSERT_OF_COMPLETED, values }
}

const INSERT_OF_COMPLETED = `, written as materialized (
    select ${GIVEN}, attempt.first_attempt_ms, ${TENANT} as tenant from ${rowsFrom(FIRST_PARAMETER)}
      join unnest(${JOB_IDS}::uuid[]) with ordinality as job (id, n) using (n)
      join completed on completed.id = job.id
  ) ${INSERT_WRITTEN}`

/** Inserts rows as a part of the statement that puts their jobs back: see `recordRetried`. */
export const insertOfRetried = (rows: LogRow[], first: number): RecordedRetries => ({
  parts: `, written as materialized (
      select ${GIVEN_OF_RETRIED}, attempt.first_attempt_ms, ${TENANT} as tenant
        from ${rowsFrom(first)}
        join unnest(${JOB_IDS}::uuid[]) with ordinality as job (id, n) using (n)
        join retried on retried.id = job.id
    ) ${LOGGED}, counted as (${INSERT_COUNTED})`,
  values: columnsOf(rows),
})

const GIVEN_OF_RETRIED = GIVEN.replace(
  'attempt.next_attempt_at',
  'retried.start_after as next_attempt_at',
)

/** The statement for a single job, which needs no arrays. */
const INSERT_OF_COMPLETED_ONE = `, attempt as materialized (
    select ${Object.entries(COLUMNS)
      .map(([name, type], index) => `$${FIRST_PARAMETER + index}::${type} as ${name}`)
      .join(', ')}
      from completed
  ), written as materialized (
    select ${GIVEN}, attempt.first_attempt_ms, ${TENANT} as tenant from attempt
  ) ${INSERT_WRITTEN}`

const columnsOf = (rows: LogRow[]): unknown[][] => [
  rows.map(({ id }) => id),
  rows.map(({ webhookId }) => webhookId),
  rows.map(({ event }) => event),
  rows.map(({ eventId }) => eventId),
  rows.map(({ payload }) => payload),
  rows.map(({ deliveryId }) => deliveryId),
  rows.map(({ attempt }) => attempt),
  rows.map(({ status }) => status),
  rows.map(({ statusCode }) => statusCode),
  rows.map(({ error }) => error),
  rows.map(({ durationMs }) => durationMs),
  rows.map(({ responseBody }) => responseBody),
  rows.map(({ attemptedAt }) => attemptedAt),
  rows.map(({ nextAttemptAt }) => nextAttemptAt),
  rows.map(({ url }) => url ?? null),
  rows.map(({ isTest }) => isTest ?? null),
  rows.map(({ firstAttemptMs }) => firstAttemptMs ?? null),
]

/** The last attempt of a webhook that has failed. */
export type LastFailure = Pick<LogRow, 'webhookId' | 'error' | 'statusCode' | 'attemptedAt'>

const MONTH_MS = 30 * 24 * 3600 * 1000

/** The last failure of each of these webhooks; none where the last month has none. */
export async function findLastFailures(db: Db, webhookIds: string[]): Promise<LastFailure[]> {
  const found: LastFailure[] = []
  let wanted = webhookIds
  for (const span of spansBack(Date.now() - MONTH_MS, newestMs())) {
    found.push(...(await findFailuresIn(db, wanted, span)))
    wanted = webhookIds.filter((id) => found.every(({ webhookId }) => webhookId !== id))
    if (wanted.length === 0) break
  }
  return found
}

async function findFailuresIn(
  db: Db,
  webhookIds: string[],
  { first, end }: LogSpan,
): Promise<LastFailure[]> {
  const { rows } = await db.query(
    `select wanted.id as "webhookId", failure.error, failure.status_code as "statusCode",
            failure.attempted_at as "attemptedAt"
       from unnest($1::uuid[]) as wanted (id)
      cross join lateral (
        select error, status_code, attempted_at from svc."__svc.webhooks.delivery_log"
         where webhook_id = wanted.id and status <> 'delivered' and id >= $2 and id < $3
           and error is not null and error <> 'proxy' and url is null
         order by id desc limit 1) as failure`,
    [webhookIds, first, end],
  )
  return rows.map((row: LastFailure) => ({
    ...row,
    attemptedAt: new Date(row.attemptedAt).toISOString(),
  }))
}
