/**
 * Publishes a batch: each event whose deduplication key is free, which the same statement takes. An
 * event whose key was taken before is a repeat, and is not written. This is how inbound requests are
 * published.
 */
import type { DeduplicationKey } from '../kv/kv-table.ts'
import type { Db } from '../postgres/transaction.ts'
import type { InsertedRows } from './attached-rows.ts'
import type { EventRow } from './events-table.ts'
import { writeEvents, type JobOffer, type PublishTerms } from './publish-statement.ts'
import { publishedOnceFrom, type PublishedOnce } from './published.ts'

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
  lockMs?: number,
): Promise<PublishedOnce> {
  const keys = events.map(({ deduplicationKey }) => deduplicationKey)
  const written = await writeEvents(db, { ...terms, events, offer, keys, inserted, lockMs })
  return publishedOnceFrom(written, events, terms.retry)
}
