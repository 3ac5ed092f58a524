/** Publishes a batch: every event of it. publish-deduplicated.ts publishes those whose key is free. */
import type { Db } from '../postgres/transaction.ts'
import type { InsertedRows } from './attached-rows.ts'
import type { EventRow } from './events-table.ts'
import { writeEvents, type JobOffer, type PublishTerms } from './publish-statement.ts'
import { publishedFrom, type Published } from './published.ts'

/** Two events of one batch must not share name and id: the micro-batch ensures that. */
export async function publishEvents(
  db: Db,
  events: EventRow[],
  terms: PublishTerms,
  offer?: JobOffer,
  inserted?: InsertedRows,
  lockMs?: number,
): Promise<Published> {
  const written = await writeEvents(db, { ...terms, events, offer, inserted, lockMs })
  return publishedFrom(written, events, terms.retry)
}

export const keyOf = ({ name, id }: { name: string; id: string }): string => `${name}\n${id}`
