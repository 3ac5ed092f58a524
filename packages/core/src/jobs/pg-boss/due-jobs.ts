/** For `@svc/testing`: the jobs of events and deliveries that are due, and how `drain` names them. */
import type { Db } from '../../postgres/transaction.ts'

interface DueJobs {
  queue: string
  /** The webhook, of a delivery. */
  recipient: string | null
  isRunning: boolean
  events: string[]
  count: number
}

/**
 * Whether a waiting `job` cannot start yet: its recipient has used up its rate, or an older job of its
 * ordered recipient is not due yet.
 */
const IS_RESTRICTED = `exists (
  select from svc."__svc.recipient_states" as known
   where known.queue = job.name and known.recipient = job.group_id and known.restricted
     and (known.rate_limit <= (
            select sum(permitted.attempts) from svc."__svc.attempt_permits" as permitted
             where permitted.queue = job.name and permitted.recipient = job.group_id
               and permitted.begun_by > now() - make_interval(secs => known.rate_seconds))
          or known.ordered and exists (
            select from svc_jobs.job as older
             where older.name = job.name and older.group_id = job.group_id
               and older.state < 'active' and older.start_after > now()
               and (older.created_on, older.id) < (job.created_on, job.id))))`

/**
 * The due jobs by queue and recipient. Jobs of held recipients are left out: they wait until their recipient is
 * released.
 */
async function findDueJobs(db: Db): Promise<DueJobs[]> {
  const { rows } = await db.query(
    `select job.name as queue, job.group_id as "recipient", job.state = 'active' as "isRunning",
            array_agg(distinct job.data ->> 'event') as events, count(*)::int as count
       from svc_jobs.job as job
      where starts_with(job.name, '__svc.') and job.name not like '%.dlq'
        and (job.state = 'active' or job.state < 'active' and job.start_after <= now())
        and (job.state = 'active' or not exists (
              select from svc."__svc.recipient_states" as held
               where held.queue = job.name and held.recipient = job.group_id and held.held))
        and (job.state = 'active' or not ${IS_RESTRICTED})
      group by 1, 2, 3 order by 1, 2, 3`,
  )
  return rows
}

export async function setJobsBack(db: Db, seconds: number): Promise<void> {
  await db.query(
    `update svc_jobs.job set start_after = start_after - make_interval(secs => $1)
      where state < 'active' and name not like '%.dlq'`,
    [seconds],
  )
}

async function hasWork(db: Db): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (
       select from svc."__svc.work"
        where finished_at is null and (per_second is null or next_at <= now())) as yes`,
  )
  return rows[0].yes
}

const SUBSCRIPTIONS = '__svc.sub/'

/** Whether a job is due or under way. In this order: work that has ended before the first look has made its jobs before the second. */
export const isBusy = async (db: Db): Promise<boolean> =>
  (await hasWork(db)) || (await findDueJobs(db)).length > 0

export async function describeDue(db: Db, hasWorkers: boolean): Promise<string | null> {
  const jobs = await findDueJobs(db)
  if (jobs.length === 0 && !(await hasWork(db))) return null
  const all = jobs.map(({ queue, recipient, isRunning, events, count }) => {
    const whose = queue.startsWith(SUBSCRIPTIONS)
      ? `events for the subscription "${queue.slice(SUBSCRIPTIONS.length)}"`
      : recipient === null
        ? `jobs of ${queue}`
        : `deliveries to the webhook ${recipient}`
    return `${count} ${whose} (${events.join(', ')}) ${isRunning ? 'under way' : 'waiting'}`
  })
  const named = all.length > 0 ? all.join('; ') : 'jobs that are moved in the background'
  return hasWorkers ? named : `${named}; this host runs no jobs (worker.enabled is false)`
}
