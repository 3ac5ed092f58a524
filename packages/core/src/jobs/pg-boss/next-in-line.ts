/**
 * Parts of a statement that settles the job of an ordered group and claims the next one. The job that it
 * settles is active until the commit, and the next one from then on: no other process can begin one in
 * between, and none has to be told.
 */
import { JOB_COLUMNS } from './jobs-table.ts'
import { claimedBy } from './fetch-due-jobs.ts'

interface Parameters {
  /** The name of the group. */
  group: string
  /** Names this process in the job that it claims. */
  owner: string
  /** `Worker.readWithClaim` */
  read: string
}

/**
 * They follow the part `completed`, which has the `id` of the job `$2` of the queue `$1` if it was
 * settled. A group that another process has locked is left alone: a change of it may stay uncommitted
 * for long, and the settlement must not wait.
 */
export const nextInLine = ({ group, owner, read }: Parameters): string => `
  line as materialized (
    select from svc."__svc.recipient_states" as known
     where known.queue = $1 and known.recipient = ${group} and exists (select from completed)
       and known.restricted and known.ordered and known.rate_limit is null
       and not known.held and known.unparked_since is null
       for no key update skip locked
  ), head as materialized (
    select (select job.id from svc_jobs.job as job
             where job.name = $1 and job.singleton_key = ${group}
               and job.blocked and job.state < 'active'
             order by job.created_on, job.id limit 1) as id
      from line
     -- Attempts from before a change of the order.
     where not exists (select from svc_jobs.job as running
                        where running.name = $1 and running.group_id = ${group}
                          and running.state = 'active' and running.id <> $2)
  ), next as (
    update svc_jobs.job as job set ${claimedBy(owner)}
     where job.name = $1
       and job.id = any(array(
             select waiting.id from svc_jobs.job as waiting
              where waiting.name = $1 and waiting.id = (select id from head)
                and waiting.blocked and waiting.state < 'active'
                and waiting.start_after <= clock_timestamp()
                -- A claim that a crash of Postgres forgot would let others begin while the attempt runs.
                and set_config('synchronous_commit', 'on', true) is not null
                for update skip locked))
    returning ${JOB_COLUMNS}, ${read} as read
  )`

/** What such a statement returns. `isEmpty`: no job of the group waits. */
export const NEXT = `(select row_to_json(next)::text from next) as next,
  (select head.id is null from head) as "isEmpty"`
