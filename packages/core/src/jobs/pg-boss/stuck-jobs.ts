/** Jobs that no process gets on with, for `npx svc doctor`. */
import type { Db } from '../../postgres/transaction.ts'
import { RUNS } from '../../processes/processes-table.ts'

/** Jobs of a queue that are due, or whose process is gone. */
export interface StuckJobs {
  queue: string
  /** `lost`: their process ended without settling them, and none takes them back. */
  why: 'late' | 'lost' | 'restricted' | 'circuit'
  jobs: number
  /** How many of them have been due for an hour: so long a live process may need for them. */
  late: number
  /** For how long the oldest has been due, or has been lost. */
  seconds: number
}

/** From so many seconds on a due job is stuck where a process has a worker for it. */
const LATE_SECONDS = 3600
/** And where none has: a process that starts again has it sooner. */
const UNATTENDED_SECONDS = 10
/** Within seconds, or when the lease of a dead process has ended, other processes take its jobs back. */
const LOST_SECONDS = 60

/**
 * Jobs for inactive webhooks, and of queues or tenants that are paused, are left out: someone wants them to
 * wait. It reads all jobs.
 */
export async function findStuckJobs(db: Db): Promise<StuckJobs[]> {
  const { rows } = await db.query(
    `select job.name as queue, 'late' as why, count(*)::int as jobs,
            (count(*) filter (where job.start_after < now() - make_interval(secs => $3)))::int as late,
            extract(epoch from now() - min(job.start_after))::int as seconds,
            coalesce(state.restricted, false) as restricted,
            coalesce(state.circuit_open, false) as "circuitOpen"
       from svc_jobs.job as job
       left join svc."__svc.recipient_states" as state
              on state.queue = job.name and state.recipient = job.group_id
      where starts_with(job.name, '__svc.') and job.name not like '%.dlq' and job.state < 'active'
        and job.start_after < now() - make_interval(secs => $1)
        and not coalesce(state.held, false)
        and not exists (
          select from svc."__svc.pauses" as pause
           where pause.queue = job.name and pause.tenant = '')
      group by 1, 6, 7
     union all
     select job.name, 'lost', count(*)::int, count(*)::int, extract(epoch from now() - min(job.started_on))::int,
            false, false
       from svc_jobs.job as job
      where starts_with(job.name, '__svc.') and job.state = 'active'
        and job.started_on < now() - make_interval(secs => $2)
        and not exists (
          select from svc."__svc.processes" as process
           where process.id::text = job.group_tier and ${RUNS})
      group by 1
      order by 1, 2`,
    [UNATTENDED_SECONDS, LOST_SECONDS, LATE_SECONDS],
  )
  type Row = StuckJobs & { restricted: boolean; circuitOpen: boolean }
  return (rows as Row[]).map(({ restricted, circuitOpen, ...stuck }) => ({
    ...stuck,
    why: restricted ? 'restricted' : circuitOpen ? 'circuit' : stuck.why,
  }))
}

/** Dead letters of the last day, with the most first, by what a redrive takes: at most ten. It reads all jobs. */
export async function countDeadOfDay(
  db: Db,
): Promise<{ queue: string; recipient: string | null; letters: number }[]> {
  const { rows } = await db.query(
    `select left(letter.name, -4) as queue, letter.group_id as recipient, count(*)::int as letters
       from svc_jobs.job as letter
      where starts_with(letter.name, '__svc.') and letter.name like '%.dlq' and letter.state < 'active'
        and letter.created_on > now() - interval '1 day'
      group by 1, 2 order by 3 desc, 1, 2 limit 10`,
  )
  return rows as never
}
