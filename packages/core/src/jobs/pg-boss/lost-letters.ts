/** Dead letters whose last attempt ended with its process: nobody has written what became of it. */
import type { Db } from '../../postgres/transaction.ts'
import { deadLetterQueueOf, type DeadLetter } from '../job.ts'
import { asDeadLetter, COLUMNS, IN_INDEX } from './dead-letters.ts'
import { IS_LOST_LETTER } from './jobs-table-setup.ts'

export interface LostLettersPage {
  since: Date
  /** The id of the last one seen. */
  after: string | null
  limit: number
}

/**
 * The oldest first; also those that are about to be redriven, but not those that are
 * deleted with their recipient.
 */
export async function listLostLetters<Data>(
  db: Db,
  queue: string,
  { since, after, limit }: LostLettersPage,
): Promise<DeadLetter<Data>[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc_jobs.job as letter
      where letter.name = $2 and ${IN_INDEX} and letter.${IS_LOST_LETTER}
        and letter.id >= svc."__svc.first_uuid"($3) and ($4::uuid is null or letter.id > $4)
        and not exists (
          select from svc."__svc.work" as work
           where work.queue = $1 and work.recipient = letter.singleton_key
             and work.what = 'bury' and letter.id < svc."__svc.first_uuid"(work.until))
      order by letter.id limit $5`,
    [queue, deadLetterQueueOf(queue), since.toISOString(), after, limit],
  )
  return rows.map((row: DeadLetter<Data>) => asDeadLetter(row))
}

/** Those of the part `taken` of a statement, as JSON text. */
export const LOST_OF_TAKEN = `(select coalesce(json_agg(json_build_object(
      'id', taken.id, 'data', taken.data, 'attempts', taken.source_retry_count + 1,
      'deadAt', extract(epoch from taken.created_on)::float8 * 1000)), '[]')::text
    from taken where taken.${IS_LOST_LETTER})`

export const lostOfTaken = (json: string): DeadLetter[] =>
  (JSON.parse(json) as DeadLetter[]).map(asDeadLetter)
