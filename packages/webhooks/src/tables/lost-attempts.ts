/** What is read and locked where rows of the delivery log are missing: of attempts whose process died. */
import type { Db } from '@svc/core'
import { ADVISORY_LOCKS } from '@svc/core/internal'
import { DAY_MS, newestMs, oldestMsOf, readSpans, spansBack } from './log-spans.ts'

/** The last attempt of each of these deliveries that has a row of the last `days`. In a transaction. */
export async function findLastLoggedAttempts(
  db: Db,
  days: number,
  deliveryIds: string[],
): Promise<{ deliveryId: string; attempt: number }[]> {
  const found: { deliveryId: string; attempt: number }[] = []
  let wanted = deliveryIds
  const fromMs = Math.max(Date.now() - days * DAY_MS, Math.min(...deliveryIds.map(oldestMsOf)))
  await readSpans(db, spansBack(fromMs, newestMs()), async ({ first, end }) => {
    const { rows } = await db.query(
      `select delivery_id as "deliveryId", max(attempt) as attempt
         from svc."__svc.webhooks.delivery_log"
        where delivery_id = any($1::uuid[]) and id >= $2 and id < $3 group by delivery_id`,
      [wanted, first, end],
    )
    found.push(...rows)
    const known = new Set(found.map(({ deliveryId }) => deliveryId))
    wanted = deliveryIds.filter((id) => !known.has(id))
    return wanted.length === 0
  })
  return found
}

/** Until the transaction ends, no other one writes the rows of lost attempts of these webhooks. */
export async function lockLostAttempts(db: Db, webhookIds: string[]): Promise<void> {
  for (const id of webhookIds.toSorted()) {
    await db.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.lostAttempts}, hashtext($1))`, [
      id,
    ])
  }
}

/** As {@link lockLostAttempts}, where no other transaction has it. Returns the webhooks that it has. */
export async function tryLockLostAttempts(db: Db, webhookIds: string[]): Promise<string[]> {
  if (webhookIds.length === 0) return []
  const { rows } = await db.query(
    `select id from unnest($1::text[]) as webhook (id)
      where pg_try_advisory_xact_lock(${ADVISORY_LOCKS.lostAttempts}, hashtext(id))`,
    [webhookIds],
  )
  return rows.map(({ id }: { id: string }) => id)
}
