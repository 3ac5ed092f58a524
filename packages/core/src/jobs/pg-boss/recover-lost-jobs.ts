/** Takes back the jobs of processes that died. */
import { isConnectionError } from '../../postgres/connection-errors.ts'
import type { Db } from '../../postgres/transaction.ts'
import type { DeadProcesses } from '../../processes/dead-processes.ts'
import { findSilentProcesses, markUnlocked } from '../../processes/processes-table.ts'
import { HEARTBEAT_SECONDS, LOST_MESSAGES } from './jobs-table.ts'
import { supervise, type PgBoss } from './boss.ts'

/** How often expired leases are searched for. */
export const RECOVERY_SECONDS = 9
/**
 * How often pg-boss makes its other checks: a dozen statements, some of which read all jobs, also a
 * million parked ones.
 */
const CHECKS_EVERY_MS = 60_000
/** How often dead processes are searched for. */
export const DEATH_WATCH_SECONDS = 2

interface Parts {
  boss: PgBoss
  db: Db
  dead: Pick<DeadProcesses, 'find' | 'findAgainInMs'>
  /** These queues have jobs that can be fetched again. */
  recovered(queues: string[]): void
  log: { warn(details: object, message: string): void }
}

export class LostJobs {
  #parts: Parts
  /** When a query of this process failed last, by the monotonic clock. */
  #failedAt = -Infinity
  /** When pg-boss last made its checks, likewise. */
  #checkedAt = -Infinity

  constructor(parts: Parts) {
    this.#parts = parts
  }

  databaseFailed(): void {
    this.#failedAt = performance.now()
  }

  /**
   * Recovers the jobs of processes that are known to have died, within seconds. Returns in how many
   * milliseconds to call it again, if a process seems to have died.
   */
  async recoverFromDead(): Promise<number | undefined> {
    const { db, dead, log } = this.#parts
    for (const id of await this.#findDead(dead)) {
      const queues = await releaseJobsOf(db, id)
      await markUnlocked(db, id)
      if (queues.some(({ isAnyUsedUp }) => isAnyUsedUp)) await this.recoverExpired()
      const count = queues.reduce((sum, queue) => sum + queue.jobs, 0)
      log.warn(
        { processId: id, jobs: count },
        'a process died; its jobs run again in other processes',
      )
      this.#parts.recovered(queues.map(({ queue }) => queue))
    }
    return dead.findAgainInMs
  }

  /**
   * None where Postgres does not answer: the next check comes soon, and other parts log the outage.
   */
  async #findDead(dead: Parts['dead']): Promise<string[]> {
    try {
      return await dead.find()
    } catch (error) {
      if (isConnectionError(error)) return []
      throw error
    }
  }

  /**
   * Jobs whose lease has expired, which pg-boss finds. Not soon after an outage: running processes
   * could not renew their leases either, and get the time of a lease to do it. A process whose event
   * loop is blocked cannot renew the leases of its jobs: this one does, while that one holds its lock.
   */
  async recoverExpired(): Promise<void> {
    if (performance.now() - this.#failedAt < HEARTBEAT_SECONDS * 1000) return
    const { boss, db } = this.#parts
    const now = performance.now()
    try {
      const mayWait = now - this.#checkedAt < CHECKS_EVERY_MS
      if (mayWait && !(await haveExpiredLeases(db))) return
      this.#checkedAt = now
      await keepJobsOf(db, await findSilentProcesses(db))
      await supervise(boss)
    } catch (error) {
      this.databaseFailed()
      throw error
    }
  }
}

/**
 * Whether pg-boss would find jobs whose lease has expired, or whose attempt takes too long. Each part has
 * an index of active jobs, so that those that wait are not read.
 */
async function haveExpiredLeases(db: Db): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (
              select from svc_jobs.job where state = 'active' and group_id is not null and ${IS_LATE})
         or exists (
              select from svc_jobs.job where state = 'active' and group_id is null and ${IS_LATE})
         as yes`,
  )
  return rows[0].yes
}

const IS_LATE = `(heartbeat_on + heartbeat_seconds * interval '1 second' < now()
  or started_on + expire_seconds * interval '1 second' < now())`

/** Renews the leases of the jobs of these processes, but of none that was taken back already. */
async function keepJobsOf(db: Db, owners: string[]): Promise<void> {
  if (owners.length === 0) return
  await db.query(
    `update svc_jobs.job set heartbeat_on = now()
      where state = 'active' and group_tier = any($1::text[]) and heartbeat_on > '-infinity'`,
    [owners],
  )
}

interface Released {
  queue: string
  jobs: number
  /** Whether the attempts of any of these jobs are used up. */
  isAnyUsedUp: boolean
}

/**
 * The jobs that a process had claimed can be fetched at once, as after a failed attempt. Those
 * whose attempts are used up become dead letters when pg-boss next checks for expired leases.
 */
async function releaseJobsOf(db: Db, owner: string): Promise<Released[]> {
  const { rows } = await db.query(
    `with lost as (
       update svc_jobs.job as job
          set state = case when retry_count < retry_limit then 'retry' else job.state end,
              start_after = now(), heartbeat_on = '-infinity', group_tier = null,
              output = jsonb_build_object('value', jsonb_build_object('message', $2::text))
        where state = 'active' and group_tier = $1
       returning name, state
     )
     select name as queue, count(*)::int as jobs, bool_or(state = 'active') as "isAnyUsedUp"
       from lost group by name`,
    [owner, LOST_MESSAGES[1]],
  )
  return rows
}
