/** What was granted of limits and quotas. Postgres decides, by its clock, for all processes. */
import type { Db } from '@svc/core/internal'
import type { Batch } from '../limits/limiter.ts'
import type { Answer } from '../limits/meter.ts'

/** `atMs`: in place of the time of Postgres, for tests. */
export async function takeAllowances(
  db: Db,
  { holder, lateMs, asks }: Batch,
  atMs: number | null = null,
): Promise<Answer[]> {
  const returns = asks.flatMap(({ returns: given }, index) =>
    given.map(({ stamp, count }) => ({ place: index + 1, stamp, count })),
  )
  const { rows } = await db.query(
    `select granted, ahead, stamp, used::float8, valid_ms as "validMs", retry_ms as "retryMs",
            others_hold as "othersHold"
       from svc."__svc.auth.take_allowances"($1::uuid, $2::float8, $3::text[], $4::text[],
         $5::integer[], $6::integer[], $7::integer[], $8::integer[], $9::integer[], $10::float8[],
         $11::integer[], $12::float8)
      order by place`,
    [
      holder,
      lateMs,
      asks.map(({ rule }) => rule.subject),
      asks.map(({ rule }) => String(rule.period)),
      asks.map(({ rule }) => rule.limit),
      asks.map(({ want }) => want),
      asks.map(({ ahead }) => ahead),
      asks.map(({ held }) => held),
      returns.map(({ place }) => place),
      returns.map(({ stamp }) => stamp),
      returns.map(({ count }) => count),
      atMs,
    ],
  )
  return rows
}

/** Deletes rows of windows that have passed, in portions that keep no lock for long. */
export async function sweepWindows(db: Db): Promise<void> {
  const portion = 5000
  for (;;) {
    const { rowCount } = await db.query(
      `with passed as materialized (
         select subject, per_seconds from svc."__svc.auth.windows"
          where unused_after <= now() limit $1 for update skip locked)
       delete from svc."__svc.auth.windows" as windows
        using passed
        where (passed.subject, passed.per_seconds) = (windows.subject, windows.per_seconds)`,
      [portion],
    )
    if ((rowCount ?? 0) < portion) return
  }
}
