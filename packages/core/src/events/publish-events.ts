/** Publishes events in one statement, with the jobs that follow from them. */
import type { Db } from '../postgres/transaction.ts'
import type { RetrySettings } from '../jobs/retry-settings.ts'
import type { DeduplicationKey } from '../kv/kv-table.ts'
import type { EventRow } from './events-table.ts'
import { writeEvents, type JobOffer } from './publish-statement.ts'
import {
  publishedFrom,
  publishedOnceFrom,
  type Published,
  type PublishedOnce,
} from './published.ts'

/** Two events of one batch must not share name and id: the micro-batch sees to that. */
export async function publishEvents(
  db: Db,
  events: EventRow[],
  retry: RetrySettings,
  offer?: JobOffer,
): Promise<Published> {
  return publishedFrom(await writeEvents(db, { events, retry, offer }), events, retry)
}

/** An event that is published if its key is free. */
export interface DeduplicatedEvent extends EventRow {
  deduplicationKey: DeduplicationKey
}

/** Two events of one batch must not share a key. */
export async function publishDeduplicated(
  db: Db,
  events: DeduplicatedEvent[],
  retry: RetrySettings,
  offer?: JobOffer,
): Promise<PublishedOnce> {
  const keys = events.map(({ deduplicationKey }) => deduplicationKey)
  const written = await writeEvents(db, { events, retry, offer, keys })
  return publishedOnceFrom(written, events, retry)
}

export const keyOf = ({ name, id }: { name: string; id: string }): string => `${name}\n${id}`
