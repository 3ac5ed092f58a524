/** Makes jobs of dead letters, in portions: with all their attempts, whose numbers go on. */
import type { Db } from '../../postgres/transaction.ts'
import { deadLetterQueueOf } from '../job.ts'
import { IS_TEST } from './contract.ts'
import { IN_INDEX, isReserved, type DeadLetterSelection, type Moved } from './dead-letters.ts'
import { retryColumns, type RetrySettings } from '../retry-settings.ts'

/** Makes jobs of a portion of the dead letters of a queue, the oldest first. Two calls at once share them. */
export async function redriveDeadLetters(
  db: Db,
  queue: string,
  selection: DeadLetterSelection,
  retry: RetrySettings,
  portion: number,
): Promise<Moved> {
  const { recipient, ids, afterId, since, until, reservedBefore = 'infinity' } = selection
  const { rows } = await db.query(
    `with portion as materialized (
       select letter.id from svc_jobs.job as letter
        where letter.name = $2 and ${IN_INDEX} and ($7::text is null or letter.singleton_key = $7)
          and ($8::uuid[] is null or letter.id = any($8))
          and ($10::timestamptz is null or letter.id >= svc."__svc.first_uuid"($10))
          and ($11::timestamptz is null or letter.id < svc."__svc.first_uuid"($11))
          and ($13::uuid is null or letter.id > $13)
          and not ($14 and letter.data @> ${IS_TEST})
          and not ${isReserved('$12::timestamptz')}
        order by letter.id limit $9
        for update skip locked
     ), taken as (
       delete from svc_jobs.job as letter
        where letter.name = $2 and letter.id = any(array(select id from portion))
       returning letter.id, letter.data, letter.singleton_key, letter.group_id,
                 letter.source_retry_count
     ), made as (
       insert into svc_jobs.job
         (id, name, priority, data, blocked, singleton_key, group_id, retry_limit, retry_delay,
          retry_backoff, retry_delay_max, start_after, created_on, keep_until, expire_seconds,
          deletion_seconds, policy, dead_letter)
       -- With a new id: the row that died keeps its id for up to a minute.
       select taken.id, $1,
              -- Those of a recipient wait with the retries, so that its new ones keep their latency.
              case when (select true from svc."__svc.recipient_states" as known
                          where known.queue = $1 and known.recipient = taken.group_id
                            and (known.held or known.circuit_open or known.restricted)
                            for key share) then -2
                   when taken.group_id is not null then -1 else 0 end,
              (taken.data - 'unsentSince' - 'publishedRetryLimit') || jsonb_build_object('attemptsBefore',
                coalesce((taken.data ->> 'attemptsBefore')::int, 0) + taken.source_retry_count + 1),
              taken.group_id is not null, taken.singleton_key, taken.group_id, $3, $4, $5, $6, now(),
              -- The jobs of an ordered recipient keep the order in which they died.
              now() + row_number() over (order by taken.id) * interval '1 microsecond',
              now() + queue.retention_seconds * interval '1 second', queue.expire_seconds,
              queue.deletion_seconds, queue.policy, queue.dead_letter
         from taken join svc_jobs.queue as queue on queue.name = $1
     )
     select count(*)::int as count, max(id::text collate "C") as "lastId" from portion`,
    [
      queue,
      deadLetterQueueOf(queue),
      ...retryColumns(retry),
      recipient ?? null,
      ids ?? null,
      portion,
      since ?? null,
      until ?? null,
      reservedBefore,
      afterId ?? null,
      selection.withoutTests ?? false,
    ],
  )
  return rows[0] as Moved
}
