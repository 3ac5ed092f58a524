/** The tasks that roll the statistics up. */
import type { Core } from '@svc/core/internal'
import { hasRecent, rollUpOlder, rollUpRecent, sweepStats } from '../tables/stats.ts'

const ROLL_UP_SECONDS = 10
const HOUR_IN_SECONDS = 3600
const MINUTES_KEPT_DAYS = 7
const HOURS_KEPT_DAYS = 90
const DAYS_KEPT = 400

export function rollUpStats(core: Core): void {
  core.every(ROLL_UP_SECONDS, 'statistics of deliveries', async (stopping) => {
    if (!(await hasRecent(core.db))) return
    while ((await core.transaction(rollUpRecent)) && !stopping.aborted);
  })
  core.every(HOUR_IN_SECONDS, 'old statistics of deliveries', async () => {
    await core.transaction((db) => rollUpOlder(db, 'minute', 'hour', MINUTES_KEPT_DAYS))
    await core.transaction((db) => rollUpOlder(db, 'hour', 'day', HOURS_KEPT_DAYS))
    await sweepStats(core.db, DAYS_KEPT)
  })
}
