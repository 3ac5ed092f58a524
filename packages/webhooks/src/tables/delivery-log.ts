/** Inserts into and reads the table of delivery attempts. delivery-log-days.ts deletes from it. */
import type { Db } from '@svc/core'
import { storableJson } from '@svc/core/internal'
import type { DeliveryAttempt } from '../delivery-schemas.ts'
import { newestMs, spansBack } from './log-spans.ts'

/** An attempt as it is stored. "__svc.webhooks.record_attempts" has the names of its fields. */
export interface LogRow extends Omit<DeliveryAttempt, 'payload'> {
  /** JSON text; null where the event holds it. */
  payload: string | null
  /**
   * The time from the publish to the first attempt, in milliseconds: for the statistics, not in the
   * log.
   */
  firstAttemptMs?: number
  /** See `AttemptRecord`. Not in the log. */
  testedUrl?: string
}

/** Writes rows, and what the statistics count of them: see there. */
export const RECORD_ATTEMPTS = '__svc.webhooks.record_attempts'

export async function insertLogRows(db: Db, rows: LogRow[]): Promise<void> {
  if (rows.length === 0) return
  await db.query('select svc."__svc.webhooks.record_attempts"(null, null, $1)', [
    storableJson(rows),
  ])
}

const MONTH_MS = 30 * 24 * 3600 * 1000

type LastFailure = Pick<LogRow, 'error' | 'statusCode' | 'attemptedAt'>

/** The last failed attempt of each of these webhooks, by their ids; none where the last month has none. */
export async function findLastFailures(
  db: Db,
  webhookIds: string[],
): Promise<Map<string, LastFailure>> {
  const found = new Map<string, LastFailure>()
  for (const { first, end } of spansBack(Date.now() - MONTH_MS, newestMs())) {
    const wanted = webhookIds.filter((id) => !found.has(id))
    if (wanted.length === 0) break
    const { rows } = await db.query(
      `select wanted.id, failure.error, failure.status_code as "statusCode",
              failure.attempted_at as "attemptedAt"
         from unnest($1::uuid[]) as wanted (id)
        cross join lateral (
          select error, status_code, attempted_at from svc."__svc.webhooks.delivery_log"
           where webhook_id = wanted.id and status <> 'delivered' and id >= $2 and id < $3
             and error is not null and error <> 'proxy' and url is null
           order by id desc limit 1) as failure`,
      [wanted, first, end],
    )
    for (const { id, ...failure } of rows as (LastFailure & { id: string })[]) {
      found.set(id, { ...failure, attemptedAt: new Date(failure.attemptedAt).toISOString() })
    }
  }
  return found
}
