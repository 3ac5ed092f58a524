/** What a publish has led to, made of what its statement has written. */
import type { RetrySettings } from '../jobs/retry-settings.ts'
import type { FanOutJob, Job } from '../jobs/job.ts'
import { publishedEventId } from './event-id.ts'
import type { UndecidedFilter } from './undecided-filters.ts'
import type { EventRow } from './events-table.ts'
import type { ClaimedJob, Written } from './publish-statement.ts'
import { waitingJobsOf, type WaitingJobs } from './waiting-jobs.ts'

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
  /** Recipients whose filters cannot be read. */
  unreadable: UndecidedFilter[]
  /** The work of the filters, in steps. */
  filterSteps: number
}

/** Claimed jobs by the name of their queue. */
export type ClaimedJobs = ReadonlyMap<string, Job[]>

export interface PublishedOnce extends Omit<Published, 'results'> {
  /** `null` where the key was taken. */
  results: (Published['results'][number] | null)[]
}

/** An event that existed is a duplicate. */
export function publishedFrom(
  written: Written,
  events: EventRow[],
  retry: RetrySettings,
): Published {
  const created = new Set(written.created)
  return {
    results: events.map(({ id }, index) => ({
      id: publishedEventId(id),
      duplicate: !created.has(index + 1),
    })),
    ...followedFrom(written, events, retry),
  }
}

/** An event whose key was taken was not written. */
export function publishedOnceFrom(
  written: Written,
  events: EventRow[],
  retry: RetrySettings,
): PublishedOnce {
  const created = new Set(written.created)
  return {
    results: events.map(({ id }, index) =>
      created.has(index + 1) ? { id: publishedEventId(id), duplicate: false } : null,
    ),
    ...followedFrom(written, events, retry),
  }
}

const followedFrom = (written: Written, events: EventRow[], retry: RetrySettings) => ({
  jobs: written.jobs,
  waiting: waitingJobsOf(written),
  claimed: claimedJobsOf(written, events, retry),
  transactionId: written.transactionId,
  unreadable: written.unreadable ?? [],
  filterSteps: written.filterSteps ?? 0,
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
  { id, recipient, version, filter }: ClaimedJob,
  event: EventRow,
  { publishedAt, madeAt, startedOn, askedAt }: Written,
  { maxAttempts }: RetrySettings,
): Job<FanOutJob> {
  const at = new Date(publishedAt)
  return {
    id,
    data: {
      event: event.name,
      eventId: event.id,
      ...(recipient === null ? {} : { recipient }),
      deliveryId: id,
      ...(filter === undefined ? {} : { filter }),
    },
    attempt: 1,
    attemptsLeft: maxAttempts - 1,
    group: recipient,
    createdAt: new Date(madeAt),
    lost: false,
    retryCount: 0,
    startedOn,
    published: {
      payload: event.payload,
      publishedAt: at,
      traceContext: event.traceContext ?? null,
    },
    ...(version === null ? {} : { recipient: { version, askedAt } }),
  }
}
