/** Makes jobs without a publish: what is sent again, and what was missed. */
import { storableJson } from '../../postgres/storable.ts'
import type { Db } from '../../postgres/transaction.ts'
import { PRIORITY, type NewJob } from '../job.ts'
import { retryColumns, type RetrySettings } from '../retry-settings.ts'

/** Jobs that one statement inserts: a recovery may be of a hundred thousand. */
const PORTION = 5000

/** Jobs whose id exists already are left out. */
export async function insertJobs(
  db: Db,
  queue: string,
  jobs: NewJob[],
  retry: RetrySettings,
): Promise<void> {
  for (let start = 0; start < jobs.length; start += PORTION) {
    const rows = jobs
      .slice(start, start + PORTION)
      .map(({ id, data, recipient = null, isLate = false, outOfTurn = false }) => ({
        id,
        data,
        priority: isLate ? PRIORITY.retry : PRIORITY.first,
        key: recipient,
        recipient: outOfTurn ? null : recipient,
      }))
    await db.query(INSERT, [queue, ...retryColumns(retry), storableJson(rows)])
  }
}

const INSERT = `
  with given as materialized (
    select its.n, its.one ->> 'id' as id, its.one -> 'data' as data, its.one ->> 'key' as key,
           its.one ->> 'recipient' as group_id, (its.one ->> 'priority')::int as priority
      from jsonb_array_elements($6::jsonb) with ordinality as its (one, n)
  ), aside as materialized (
    -- The locks keep the rows: pumps look for jobs that wait aside by these rows.
    select known.recipient from svc."__svc.recipient_states" as known
     where known.queue = $1 and known.recipient = any(array(select group_id from given))
       and (known.held or known.circuit_open or known.restricted)
     order by known.recipient
       for key share
  )
  insert into svc_jobs.job
    (id, name, priority, data, blocked, singleton_key, group_id, retry_limit, retry_delay,
     retry_backoff, retry_delay_max, start_after, created_on, keep_until, expire_seconds,
     deletion_seconds, policy, dead_letter)
  select given.id::uuid, $1,
         case when given.group_id in (select recipient from aside) then ${PRIORITY.aside} else given.priority end,
         given.data, given.group_id is not null, given.key, given.group_id, $2, $3, $4, $5, now(),
         -- They are attempted in the order given.
         clock_timestamp() + given.n * interval '1 microsecond',
         now() + queue.retention_seconds * interval '1 second', queue.expire_seconds,
         queue.deletion_seconds, queue.policy, queue.dead_letter
    from given join svc_jobs.queue as queue on queue.name = $1
  on conflict do nothing`
