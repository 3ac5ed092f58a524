/**
 * Takes back the jobs that no process works on any more: those of processes that died, and those that a
 * process has claimed without knowing it, since the answer to its claim was lost. The row of a process is the
 * lease of all its jobs. Its lock, which ends with it, shows its death at once.
 */
import { isConnectionError } from '../../postgres/connection-errors.ts'
import type { Db } from '../../postgres/transaction.ts'
import type { DeadProcesses } from '../../processes/dead-processes.ts'
import { markUnlocked, RUNS } from '../../processes/processes-table.ts'
import { supervise, type PgBoss } from './boss.ts'
import { LOST_MESSAGES } from './jobs-table.ts'
import { settle } from './settle.ts'

/** How often jobs are looked for that no process works on. */
export const RECOVERY_SECONDS = 9
/** How often dead processes are searched for. */
export const DEATH_WATCH_SECONDS = 2
/**
 * How often pg-boss makes its own checks: a dozen statements, some of which read all jobs, also a million
 * that wait.
 */
const CHECKS_EVERY_MS = 60_000
/** After an outage of Postgres running processes get the time of a lease to renew theirs. */
const AFTER_OUTAGE_MS = 20_000
/** A claim of this process is known to it long before. */
const UNKNOWN_AFTER_SECONDS = 20

interface Parts {
  boss: PgBoss
  db: Db
  ownId: string
  /** Whether this process works on a job of the queue, or settles it. */
  holds: (queue: string, jobId: string) => boolean
  dead: Pick<DeadProcesses, 'find' | 'findAgainInMs'>
  /** These queues have jobs that can be fetched again. */
  recovered: (queues: string[]) => void
  log: { warn(details: object, message: string): void }
}

export class LostJobs {
  #parts: Parts
  /** When a query of this process failed last, by the monotonic clock. */
  #failedAt = -Infinity
  /** When pg-boss last made its checks, likewise. */
  #checkedAt = -Infinity
  /** Claims of this process that it did not know at the last look, by their leases. */
  #unknown = new Set<string>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  databaseFailed(): void {
    this.#failedAt = performance.now()
  }

  /**
   * Takes back the jobs of processes that are known to have died, within seconds. Returns in how many
   * milliseconds to call it again, if a process seems to have died.
   */
  async recoverFromDead(): Promise<number | undefined> {
    const { db, dead, ownId } = this.#parts
    for (const id of await this.#findDead(dead)) {
      const found = await findLostJobs(db, ownId, [id])
      await this.#takeBack(found.filter(({ owner }) => owner !== ownId))
      await markUnlocked(db, id)
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

  /** Takes back jobs whose process does not run any more, as its lease shows, and has pg-boss make its checks. */
  async recover(): Promise<void> {
    const now = performance.now()
    if (now - this.#failedAt < AFTER_OUTAGE_MS) return
    const { boss, db, ownId, holds } = this.#parts
    try {
      const found = await findLostJobs(db, ownId, [])
      const ofOthers = found.filter(({ owner }) => owner !== ownId)
      const unknown = found.filter(({ owner, queue, id }) => owner === ownId && !holds(queue, id))
      // Twice: it may be on its way from the publish that has claimed it.
      const lost = unknown.filter((job) => this.#unknown.has(leaseOf(job)))
      this.#unknown = new Set(unknown.map(leaseOf))
      await this.#takeBack([...ofOthers, ...lost])
      if (now - this.#checkedAt < CHECKS_EVERY_MS) return
      this.#checkedAt = now
      await supervise(boss)
    } catch (error) {
      this.databaseFailed()
      throw error
    }
  }

  async #takeBack(lost: LostJob[]): Promise<void> {
    const { db, log, ownId, recovered } = this.#parts
    for (const [owner, jobs] of Map.groupBy(lost, (job) => job.owner)) {
      await takeBack(db, jobs)
      const about = { processId: owner, jobs: jobs.length }
      log.warn(about, owner === ownId ? CLAIMS_LOST : PROCESS_DIED)
    }
    if (lost.length > 0) recovered([...new Set(lost.map(({ queue }) => queue))])
  }
}

const PROCESS_DIED = 'a process died; its jobs run again in other processes'
const CLAIMS_LOST =
  'the answers to claims of jobs were lost, or their outcomes could not be recorded; the jobs run again'

interface LostJob {
  queue: string
  id: string
  startedOn: string
  owner: string
  /** Whether the attempt that was lost was not the last one. */
  hasAttemptsLeft: boolean
}

const leaseOf = ({ id, startedOn }: LostJob): string => `${id} ${startedOn}`

/** At a time; the others follow. */
const PORTION = 5000

/**
 * Jobs whose process does not run, or is one of `dead`, and claims of this process that are not new. Each part
 * of `active` has an index of active jobs, so that those that wait are not read. In queues of the host
 * `group_tier` is its own.
 */
async function findLostJobs(db: Db, ownId: string, dead: string[]): Promise<LostJob[]> {
  const { rows } = await db.query(
    `with active as materialized (
       select name, id, started_on, group_tier, retry_count < retry_limit as has_attempts_left
         from svc_jobs.job
        where state = 'active' and group_id is not null and group_tier is not null
          and starts_with(name, '__svc.')
       union all
       select name, id, started_on, group_tier, retry_count < retry_limit
         from svc_jobs.job
        where state = 'active' and group_id is null and group_tier is not null
          and starts_with(name, '__svc.')
     ), lost_owner as materialized (
       select owner.id
         from (select distinct group_tier from active) as owner (id)
        where owner.id = any($2::text[])
           or owner.id <> $1 and not exists (
                select from svc."__svc.processes" as process
                 where process.id::text = owner.id and ${RUNS})
     )
     select name as queue, id, started_on::text as "startedOn", group_tier as owner,
            has_attempts_left as "hasAttemptsLeft"
       from active
      where group_tier in (select lost_owner.id from lost_owner)
         or group_tier = $1 and started_on < now() - make_interval(secs => $3)
      order by group_tier = $1
      limit $4`,
    [ownId, dead, UNKNOWN_AFTER_SECONDS, PORTION],
  )
  return rows
}

/**
 * They can be fetched at once, as after a failed attempt. Those whose attempts are used up become dead
 * letters.
 */
async function takeBack(db: Db, lost: LostJob[]): Promise<void> {
  const output = { value: { message: LOST_MESSAGES[1] } }
  const again = lost.filter(({ hasAttemptsLeft }) => hasAttemptsLeft)
  const last = lost.filter(({ hasAttemptsLeft }) => !hasAttemptsLeft)
  await db.query(
    `update svc_jobs.job as job
        set state = 'retry', start_after = now(), group_tier = null, output = $4
       from unnest($1::text[], $2::uuid[], $3::timestamptz[]) as lost (queue, id, started_on)
      where job.name = lost.queue and job.id = lost.id
        and job.state = 'active' and job.started_on = lost.started_on`,
    [
      again.map(({ queue }) => queue),
      again.map(({ id }) => id),
      again.map(({ startedOn }) => startedOn),
      output,
    ],
  )
  for (const [queue, jobs] of Map.groupBy(last, (job) => job.queue)) {
    const dead = jobs.map((job) => ({ job, output }))
    await settle(db, queue, { done: [], failed: [], postponed: [], parked: [], dead })
  }
}
