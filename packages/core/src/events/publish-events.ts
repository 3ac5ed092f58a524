/** From a publish to the jobs that follow from it. */
import type { Db } from '../postgres/transaction.ts'
import type { RetrySettings } from '../jobs/pg-boss/dead-letters.ts'
import type { FanOutJob, Job } from '../jobs/job.ts'
import type { DeduplicationKey } from '../kv/kv-table.ts'
import { publishedEventId } from './event-id.ts'
import type { EventRow } from './events-table.ts'
import { waitingJobsOf, type WaitingJobs } from './waiting-jobs.ts'
import { writeEvents, type ClaimedJob, type JobOffer, type Written } from './publish-statement.ts'

export interface Published {
  /** One for each event given, in that order. */
  results: { id: string; duplicate: boolean }[]
  /** The jobs that followed from them. */
  jobs: number
  /** What waits to be fetched or claimed, once this is committed. */
  waiting: WaitingJobs
  /** Jobs that this process has claimed, once this is committed. */
  claimed: ClaimedJobs
  /** The transaction in which it was written. */
  transactionId: string
  /** Recipients whose filters this version cannot read. */
  unreadable: string[]
}

/** By the name of their queue. */
export type ClaimedJobs = ReadonlyMap<string, Job[]>

/** Two events of one batch must not share name and id: the micro-batch sees to that. */
export async function publishEvents(
  db: Db,
  events: EventRow[],
  retry: RetrySettings,
  offer?: JobOffer,
): Promise<Published> {
  const written = await writeEvents(db, { events, retry, offer })
  const created = new Set(written.created)
  return {
    results: events.map(({ id }, index) => ({
      id: publishedEventId(id),
      duplicate: !created.has(index + 1),
    })),
    ...followedFrom(written, events, retry),
  }
}

/** An event that is published if its key is free. */
export interface DeduplicatedEvent extends EventRow {
  deduplicationKey: DeduplicationKey
}

export interface PublishedOnce extends Omit<Published, 'results'> {
  /** `null` where the key was taken. */
  results: (Published['results'][number] | null)[]
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
  const created = new Set(written.created)
  return {
    results: events.map(({ id }, index) =>
      created.has(index + 1) ? { id: publishedEventId(id), duplicate: false } : null,
    ),
    ...followedFrom(written, events, retry),
  }
}

export const keyOf = ({ name, id }: { name: string; id: string }): string => `${name}\n${id}`

const followedFrom = (written: Written, events: EventRow[], retry: RetrySettings) => ({
  jobs: written.jobs,
  waiting: waitingJobsOf(written),
  claimed: claimedJobsOf(written, events, retry),
  transactionId: written.transactionId,
  unreadable: written.unreadable ?? [],
})

function claimedJobsOf(written: Written, events: EventRow[], retry: RetrySettings): ClaimedJobs {
  const claimed = new Map<string, Job[]>()
  for (const one of written.claimed) {
    const jobs = claimed.get(one.queue) ?? []
    jobs.push(jobOf(one, events[one.event - 1] as EventRow, written, retry))
    claimed.set(one.queue, jobs)
  }
  return claimed
}

function jobOf(
  { id, group }: ClaimedJob,
  event: EventRow,
  { publishedAt, startedOn }: Written,
  { maxAttempts }: RetrySettings,
): Job<FanOutJob> {
  const at = new Date(publishedAt)
  return {
    id,
    data: {
      event: event.name,
      eventId: event.id,
      ...(group === null ? {} : { target: group }),
      deliveryId: id,
    },
    attempt: 1,
    isLastAttempt: maxAttempts === 1,
    group,
    createdAt: at,
    lost: false,
    retryCount: 0,
    startedOn,
    published: {
      payload: event.payload,
      publishedAt: at,
      traceContext: event.traceContext ?? null,
    },
  }
}
