/** What core deletes in the background: what has expired, or has been kept long enough. */
import type { Db } from './postgres/transaction.ts'
import { sweepDeadLettersOf } from './jobs/pg-boss/dead-letters.ts'
import { sweepEvents } from './events/events-table.ts'
import { sweepRetired } from './jobs/pg-boss/jobs-table.ts'
import { sweepExpired } from './kv/kv-table.ts'
import { longestDays, sweepProcesses } from './processes/processes-table.ts'
import { SUBSCRIPTION_QUEUES } from './events/subscription-worker.ts'
import type { Sweep } from './jobs/periodic-tasks.ts'

const HOUR = 3600
/** Data is kept as the longest setting says, also that of a process that ended within a day. */
const DAY_IN_SECONDS = 24 * 3600
const SUBSCRIPTION_DEAD_LETTER_DAYS = 90

export function coreTasks(db: Db, eventRetentionDays: number): Sweep[] {
  return [
    { name: 'expired entries', seconds: 60, task: () => sweepExpired(db) },
    {
      name: 'old events',
      seconds: HOUR,
      async task() {
        const longest = await longestDays(db, 'eventRetentionDays', DAY_IN_SECONDS)
        await sweepEvents(db, Math.max(longest, eventRetentionDays))
      },
    },
    { name: 'processes that ended', seconds: HOUR, task: () => sweepProcesses(db) },
    {
      name: 'jobs of retired subscriptions',
      seconds: HOUR,
      async task() {
        while (await sweepRetired(db, SUBSCRIPTION_QUEUES));
      },
    },
    {
      name: 'old dead letters of subscriptions',
      seconds: HOUR,
      task: () => sweepDeadLettersOf(db, SUBSCRIPTION_QUEUES, SUBSCRIPTION_DEAD_LETTER_DAYS),
    },
  ]
}
