/** The periodic tasks of core that delete old data. */
import type { Db } from './postgres/transaction.ts'
import { sweepAudit } from './audit/audit-table.ts'
import { deleteOldDeadLetters } from './jobs/pg-boss/dead-letters.ts'
import { sweepEvents } from './events/events-table.ts'
import { sweepFilterChanges } from './events/filter/filter-changes-table.ts'
import { CHANGES_KEPT_SECONDS } from './events/filter/known-filters.ts'
import { sweepPermits } from './jobs/pg-boss/recipient-states-table.ts'
import { deleteRetiredJobs } from './jobs/pg-boss/jobs-table.ts'
import { sweepExpired } from './kv/kv-table.ts'
import { longestDays, sweepProcesses } from './processes/processes-table.ts'
import { SUBSCRIPTION_QUEUES } from './events/subscription-worker.ts'
import type { PeriodicTask } from './jobs/periodic-tasks.ts'

const HOUR = 3600
/** The longest retention of all processes counts, also of those that ended within this time. */
const DAY_IN_SECONDS = 24 * 3600
const SUBSCRIPTION_DEAD_LETTER_DAYS = 90

interface Days {
  eventRetentionDays: number
  auditRetentionDays: number
}

export function retentionTasks(db: Db, days: Days): PeriodicTask[] {
  const longest = async (of: keyof Days) =>
    Math.max(await longestDays(db, of, DAY_IN_SECONDS), days[of])
  return [
    { name: 'expired entries', seconds: 60, run: (stopping) => sweepExpired(db, stopping) },
    {
      name: 'old events',
      seconds: HOUR,
      run: async (stopping) => sweepEvents(db, await longest('eventRetentionDays'), stopping),
    },
    {
      name: 'old rows of the audit',
      seconds: HOUR,
      run: async (stopping) => sweepAudit(db, await longest('auditRetentionDays'), stopping),
    },
    { name: 'processes that ended', seconds: HOUR, run: () => sweepProcesses(db) },
    {
      name: 'old changes of filters',
      seconds: HOUR,
      run: () => sweepFilterChanges(db, CHANGES_KEPT_SECONDS),
    },
    { name: 'old permits of attempts', seconds: HOUR, run: () => sweepPermits(db) },
    {
      name: 'jobs of retired subscriptions',
      seconds: HOUR,
      async run(stopping) {
        while (!stopping.aborted && (await deleteRetiredJobs(db, SUBSCRIPTION_QUEUES)));
      },
    },
    {
      name: 'old dead letters of subscriptions',
      seconds: HOUR,
      run: (stopping) =>
        deleteOldDeadLetters(db, SUBSCRIPTION_QUEUES, SUBSCRIPTION_DEAD_LETTER_DAYS, stopping),
    },
  ]
}
