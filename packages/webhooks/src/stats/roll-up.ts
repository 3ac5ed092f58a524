/** The tasks that roll the statistics up, and with them the results of attempts at each webhook. */
import type { Core } from '@svc/core/internal'
import { rollUpOlder, rollUpRecent, sweepStats, type Working } from '../tables/stats.ts'

const ROLL_UP_SECONDS = 10
const HOUR_IN_SECONDS = 3600
const MINUTES_KEPT_DAYS = 7
const HOURS_KEPT_DAYS = 90
const DAYS_KEPT = 400

/** `works`: a webhook that was disabled as failing has taken a delivery. */
export function rollUpStats(core: Core, works: (webhook: Working) => void): void {
  core.every(ROLL_UP_SECONDS, 'statistics of deliveries', async (stopping) => {
    await countAttempts(core, works, stopping)
  })
  core.every(HOUR_IN_SECONDS, 'old statistics of deliveries', async () => {
    await core.transaction((db) => rollUpOlder(db, 'minute', 'hour', MINUTES_KEPT_DAYS))
    await core.transaction((db) => rollUpOlder(db, 'hour', 'day', HOURS_KEPT_DAYS))
    await sweepStats(core.db, DAYS_KEPT)
  })
}

/** Counts recent attempts. Returns `false` where another process is counting. */
export async function countAttempts(
  core: Core,
  works: (webhook: Working) => void,
  stopping?: AbortSignal,
): Promise<boolean> {
  for (let hasMore = true; hasMore && !stopping?.aborted;) {
    const rolledUp = await rollUpRecent(core.db)
    if (rolledUp === null) return false
    rolledUp.working.forEach(works)
    hasMore = rolledUp.hasMore
  }
  return true
}
