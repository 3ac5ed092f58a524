/**
 * Takes back the jobs that no process works on any more: those of processes that died, and those that a
 * process has claimed without knowing it, since the answer to its claim was lost. The row of a process is the
 * lease of all its jobs. Its lock, which ends with it, shows its death at once. A process takes back the jobs of
 * the queues for which it has a worker: they are settled as failed attempts, with the rows that tell of them.
 */
import { isConnectionError } from '../../postgres/connection-errors.ts'
import type { Db } from '../../postgres/transaction.ts'
import type { DeadProcesses } from '../../processes/dead-processes.ts'
import { markUnlocked, RUNS } from '../../processes/processes-table.ts'
import type { PgBoss } from './boss.ts'
import type { Job } from '../job.ts'
import { asJob, JOB_COLUMNS, type JobRow } from './jobs-table.ts'

export const RECOVERY_SECONDS = 9
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
  holds: (queue: string, jobId: string) => boolean
  dead: Pick<DeadProcesses, 'find' | 'findAgainInMs'>
  /** Settles these jobs of a queue as lost. Returns whether all are settled. */
  settleLost: (queue: string, jobs: Job[]) => Promise<boolean>
  log: { warn(details: object, message: string): void }
}

export class LostJobs {
  #parts: Parts
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
      const areAll = await this.#takeBack(found.filter(({ owner }) => owner !== ownId))
      await markUnlocked(db, id, areAll)
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
      const unknown = found.filter(
        ({ owner, queue, job }) => owner === ownId && !holds(queue, job.id),
      )
      // Twice: it may be on its way from the publish that has claimed it.
      const lost = unknown.filter((job) => this.#unknown.has(leaseOf(job)))
      this.#unknown = new Set(unknown.map(leaseOf))
      await this.#takeBack([...ofOthers, ...lost])
      if (now - this.#checkedAt < CHECKS_EVERY_MS) return
      this.#checkedAt = now
      await boss.supervise()
    } catch (error) {
      this.databaseFailed()
      throw error
    }
  }

  /** Returns whether all of them are taken back. */
  async #takeBack(lost: LostJob[]): Promise<boolean> {
    const { log, ownId, settleLost } = this.#parts
    let areAll = lost.length < PORTION
    for (const [owner, its] of Map.groupBy(lost, (one) => one.owner)) {
      let count = 0
      for (const [queue, some] of Map.groupBy(its, (one) => one.queue)) {
        if (
          await settleLost(
            queue,
            some.map(({ job }) => job),
          )
        )
          count += some.length
        else areAll = false
      }
      const about = { processId: owner, jobs: count }
      if (count > 0) log.warn(about, owner === ownId ? CLAIMS_LOST : PROCESS_DIED)
    }
    return areAll
  }
}

const PROCESS_DIED = 'a process died; its jobs run again in other processes'
const CLAIMS_LOST =
  'the answers to claims of jobs were lost, or their outcomes could not be recorded; the jobs run again'

interface LostJob {
  queue: string
  job: Job
  owner: string
}

const leaseOf = ({ job: { id, startedOn } }: LostJob): string => `${id} ${startedOn}`

const PORTION = 2000

/**
 * Jobs whose process does not run, or is one of `dead`, and claims of this process that are not new. Each part
 * of `active` has an index of active jobs, so that those that wait are not read. In queues of the host
 * `group_tier` is its own.
 */
async function findLostJobs(db: Db, ownId: string, dead: string[]): Promise<LostJob[]> {
  const { rows } = await db.query(
    `with active as materialized (
       select * from svc_jobs.job
        where state = 'active' and group_id is not null and group_tier is not null
          and starts_with(name, '__svc.')
       union all
       select * from svc_jobs.job
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
     select job.name as queue, job.group_tier as owner, ${JOB_COLUMNS}
       from active as job
      where job.group_tier in (select lost_owner.id from lost_owner)
         or job.group_tier = $1 and job.started_on < now() - make_interval(secs => $3)
      order by job.group_tier = $1
      limit $4`,
    [ownId, dead, UNKNOWN_AFTER_SECONDS, PORTION],
  )
  return (rows as (JobRow<unknown> & { queue: string; owner: string })[]).map((row) => ({
    queue: row.queue,
    owner: row.owner,
    job: asJob(row),
  }))
}
