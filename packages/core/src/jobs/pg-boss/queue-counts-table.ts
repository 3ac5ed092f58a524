/** How much waits in the queues of the database: what `svc.health` and the gauges show. */
import type { Db } from '../../postgres/transaction.ts'

/** How much waits in one queue of the database, over all processes. */
export interface QueueCount {
  /** The name of the queue. */
  queue: string
  /** Jobs that have not begun: those that are due, those of a later time, and those aside. */
  waiting: number
  /** Jobs that some process is working on. */
  active: number
  /**
   * For how many seconds the oldest due job has been due; 0 without one. Jobs of webhooks that are inactive or
   * limited, or whose circuit is open, are left out: they wait for their webhook and not for a free slot.
   */
  oldestSeconds: number
  /** Dead letters. */
  dead: number
}

/** Up to how many jobs of a queue are counted; for longer queues pg-boss's own counts are taken. */
export const COUNTED = 10_000
/**
 * Where the queue is longer: how many jobs of each lane are searched for the oldest due one, or, in the first lane,
 * the oldest of how many webhooks.
 */
const MOST_SEARCHED = 1000

const JOBS_OF = (queue: string, limit: string) => `
  select state, priority, start_after from svc_jobs.job where name = ${queue} limit ${limit}`

/** The orders are those of indexes of waiting jobs, so that nothing is sorted. */
const FIRST_OF_LANE = (lane: string) => `(
  select start_after from svc_jobs.job
   where name = wanted.queue and state < 'active' and not blocked and priority = ${lane}
   order by priority desc, created_on limit ${MOST_SEARCHED})`

const FIRST_OF_RETRIES = `(
  select start_after from svc_jobs.job
   where name = wanted.queue and state < 'active' and blocked and priority = -1
   order by start_after limit 1)`

/** One of each webhook. */
const FIRST_OF_WEBHOOKS = `(
  with recursive line (recipient, start_after) as (
    select (first).singleton_key, (first).start_after from (
      select (select job from svc_jobs.job as job
               where job.name = wanted.queue and job.priority = 0 and job.blocked and job.state < 'active'
               order by job.priority, job.singleton_key, job.start_after limit 1) as first) as its
    union all
    select (first).singleton_key, (first).start_after from (
      select (select job from svc_jobs.job as job
               where job.name = wanted.queue and job.priority = 0 and job.singleton_key > line.recipient
                 and job.blocked and job.state < 'active'
               order by job.priority, job.singleton_key, job.start_after limit 1) as first
        from line where line.recipient is not null) as its
  )
  select start_after from line limit ${MOST_SEARCHED})`

/** pg-boss refreshes its counts every few seconds, where some process works on jobs. */
const COUNT_QUEUES = `
  with wanted as (
    select queue from svc."__svc.subscriptions" union select unnest($1::text[])
  )
  select wanted.queue,
         case when head.seen > $2 then greatest(head.waiting, queue.queued_count)
              else head.waiting end::int as waiting,
         case when head.seen > $2 then greatest(head.active, queue.active_count)
              else head.active end::int as active,
         coalesce(extract(epoch from now() - case when head.seen > $2 then (
             select min(start_after)
               from (${FIRST_OF_LANE('0')} union all ${FIRST_OF_LANE('-1')}
                      union all ${FIRST_OF_RETRIES} union all ${FIRST_OF_WEBHOOKS}) as first
              where start_after <= now())
           else head.oldest end), 0)::float8 as "oldestSeconds",
         case when letters.seen > $2 then greatest(letters.seen, dead_letter_queue.queued_count)
              else letters.seen end::int as dead
    from wanted
    join svc_jobs.queue as queue on queue.name = wanted.queue
    left join svc_jobs.queue as dead_letter_queue on dead_letter_queue.name = queue.dead_letter
   cross join lateral (
     select count(*) as seen,
            count(*) filter (where state < 'active') as waiting,
            count(*) filter (where state = 'active') as active,
            min(start_after)
              filter (where state < 'active' and priority > -2 and start_after <= now()) as oldest
       from (${JOBS_OF('wanted.queue', '$2 + 1')}) as job
   ) as head
   cross join lateral (
     select count(*) as seen from (${JOBS_OF('queue.dead_letter', '$2 + 1')}) as letter
   ) as letters
   order by wanted.queue`

/**
 * All queues of subscriptions, whichever process works on them, and those of `queues`. `db` must
 * use the plans of workers, see postgres/worker-pool.ts: with other plans all of a long queue is
 * read.
 */
export async function countQueues(
  db: Db,
  queues: string[],
  counted = COUNTED,
): Promise<QueueCount[]> {
  const { rows } = await db.query(COUNT_QUEUES, [queues, counted])
  return rows
}
