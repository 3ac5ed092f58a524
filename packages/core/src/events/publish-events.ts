/**
 * The two ways to publish a batch: every event, or each event whose deduplication key is free. Both
 * call publish-statement.ts, and return its rows as a result for each event.
 */
import type { Db } from '../postgres/transaction.ts'
import type { DeduplicationKey } from '../kv/kv-table.ts'
import type { InsertedRows } from './attached-rows.ts'
import type { EventRow } from './events-table.ts'
import { writeEvents, type JobOffer, type PublishTerms } from './publish-statement.ts'
import {
  publishedFrom,
  publishedOnceFrom,
  type Published,
  type PublishedOnce,
} from './published.ts'

/** Two events of one batch must not share name and id: the micro-batch ensures that. */
export async function publishEvents(
  db: Db,
  events: EventRow[],
  terms: PublishTerms,
  offer?: JobOffer,
  inserted?: InsertedRows,
): Promise<Published> {
  const written = await writeEvents(db, { ...terms, events, offer, inserted })
  return publishedFrom(written, events, terms.retry)
}

/** An event that is published if its key is free. */
export interface DeduplicatedEvent extends EventRow {
  deduplicationKey: DeduplicationKey
}

/** Two events of one batch must not share a key. */
export async function publishDeduplicated(
  db: Db,
  events: DeduplicatedEvent[],
  terms: PublishTerms,
  offer?: JobOffer,
  inserted?: InsertedRows,
): Promise<PublishedOnce> {
  const keys = events.map(({ deduplicationKey }) => deduplicationKey)
  const written = await writeEvents(db, { ...terms, events, offer, keys, inserted })
  return publishedOnceFrom(written, events, terms.retry)
}

export const keyOf = ({ name, id }: { name: string; id: string }): string => `${name}\n${id}`
