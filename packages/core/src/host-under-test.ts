/** What `@svc/testing` uses of a running host. */
import type { Job } from './jobs/job.ts'
import { setJobsBack } from './jobs/pg-boss/due-jobs.ts'
import type { Db } from './postgres/transaction.ts'

export interface HostUnderTest {
  /** Whether an event, a delivery or work on many of them is due and not settled. */
  isBusy(): Promise<boolean>
  /** What that is, for a message; `null` where there is nothing. */
  describeDue(): Promise<string | null>
  timeShifts: readonly TimeShift[]
  /** How many seconds `advance` has set times back. */
  advancedSeconds: number
  /** Publishes that were not awaited are committed or refused. */
  published(): Promise<void>
  wakeAll(): void
  /** Runs each periodic task once; these runs begin after the call. */
  runTasks(): Promise<void>
  /** Settles these active jobs of a queue as if their process had died. */
  settleLost: (queue: string, jobs: Job[]) => Promise<boolean>
  transaction<T>(run: (db: Db) => Promise<T>): Promise<T>
}

/** What `advance` moves: each package adds what it keeps. */
export interface TimeShift {
  /** Writes what this process keeps back for a moment, before times are set back. */
  written?(): Promise<void>
  /**
   * Sets the times of stored rows back by `seconds`, in the transaction of `advance`.
   * `alreadySeconds`: by how much the calls before have set them back.
   */
  rows?(db: Db, seconds: number, alreadySeconds: number): Promise<void>
  /** Sets times that this process remembers back by `seconds`. Runs after the commit. */
  memory?(seconds: number): void | Promise<void>
}

/** Jobs, the attempts that count for a rate, recoveries, and what is in the key-value store for a time. */
export const coreShift: TimeShift = {
  async rows(db, seconds) {
    await setJobsBack(db, seconds)
    await db.query(
      `update svc."__svc.attempt_permits"
          set permitted_at = permitted_at - make_interval(secs => $1),
              begun_by = begun_by - make_interval(secs => $1)`,
      [seconds],
    )
    await db.query(
      `update svc."__svc.work" set next_at = next_at - make_interval(secs => $1)
        where finished_at is null`,
      [seconds],
    )
    await db.query(
      `update svc."__svc.kv" set expires_at = expires_at - make_interval(secs => $1)
        where expires_at is not null`,
      [seconds],
    )
  },
}
