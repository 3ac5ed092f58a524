/**
 * The statement that every publish runs, its values and its answer. "__svc.publish" writes the events, and
 * a job for each recipient. Where the publishing process has room for an attempt, the job is inserted as
 * claimed by it: such a job needs no fetch, because the process has its payload.
 */
import { InvalidTransaction } from '../errors.ts'
import type { FanOutJob, Job } from '../jobs/job.ts'
import type { RetrySettings } from '../jobs/retry-settings.ts'
import type { JobOffer } from '../jobs/worker-registry.ts'
import type { DeduplicationKey } from '../kv/kv-table.ts'
import { storableJson } from '../postgres/storable.ts'
import type { Db } from '../postgres/transaction.ts'
import { publishedEventId, tenantOfEvent } from './event-id.ts'
import type { EventRow } from './events-table.ts'
import { FEED } from './feed-table.ts'
import type { KnownFilters } from './filter/known-filters.ts'
import { matchRecipients, type MatchedRecipients } from './filter/recipient-filters.ts'
import type { UndecidedFilter } from './filter/undecided-filters.ts'

/**
 * A function of a package that a publish calls, as the package declares it: never a name from input. All rows of
 * a publish have the same one.
 */
export class AttachedFunction {
  readonly name: string

  /**
   * Of a function in the schema `svc` with the arguments `rows json`, an element for each
   * {@link AttachedRow} with `firstEvent` and `eventCount` added; `created int[]`, the events that are new,
   * from 1, or null where all are; and `payloads text[]`, those of all events. The events of a row follow
   * each other, from `firstEvent` on.
   */
  constructor(name: `__svc.${string}`) {
    this.name = name
  }
}

/** A row that is written by the statement that publishes its events. */
export interface AttachedRow {
  insertedBy: AttachedFunction
  /** `eventIds`: of its events, if they are new. */
  rowOf: (eventIds: string[]) => object
}

export interface NewEvent extends EventRow {
  /** Its publisher named the id, so that it may have been published before. @default false */
  mayExist?: boolean
  /** It is published once for this key. @default none */
  deduplicationKey?: DeduplicationKey | null
  /** A row that is written with it. @default none */
  attachedRow?: AttachedRow | undefined
}

/** The terms of all publishes of a process. */
export interface PublishTerms {
  /** Attempts and delays of the jobs. */
  retry: RetrySettings
  filters: KnownFilters
}

export interface ToPublish {
  /** No two share an id, or a deduplication key. */
  events: NewEvent[]
  /** A row of all these events, beside the rows of each. @default none */
  attachedRow?: AttachedRow | undefined
  offer?: JobOffer | undefined
  /**
   * The longest wait for a transaction that holds the id or the key of one of them; a longer one is an
   * error 55P03. @default as the session has it: the transaction of a caller has its own terms
   */
  lockMs?: number | undefined
  commitsAtOnce?: boolean
}

export interface Published {
  /** One for each event, in that order; `null` where its deduplication key was taken. */
  results: PublishedOrTaken[]
  /** How many of the events are new. */
  made: number
  /** The jobs that follow, or the work of the filters in jobs where that is more. */
  jobs: number
  /** What waits to be fetched or claimed, once this is committed. */
  waiting: WaitingJobs
  /** Jobs that this process has claimed, once this is committed, by the name of their queue. */
  claimed: ReadonlyMap<string, Job[]>
  transactionId: string
  /** Recipients that get no job, since their filters cannot be read. */
  unreadable: UndecidedFilter[]
}

export type PublishedOrTaken = { id: string; duplicate: boolean } | null

/** The jobs of a publish that wait for a worker. */
export interface WaitingJobs {
  /** The queues with jobs that can be fetched, and {@link FEED} where readers wait for an event. */
  queues: string[]
  /** The recipients with jobs that wait for what restricts them, by queue. */
  restricted: ReadonlyMap<string, string[]>
}

interface Written {
  /** Which of the events are new, from 1; `null`: all. */
  created: number[] | null
  /** Here and below `null` is for none. */
  jobs: number | null
  claimed: ClaimedJob[] | null
  /** The queues of those that can be fetched. */
  waiting: string[] | null
  /** One for each job that waits for what restricts its recipient. */
  restricted: { queue: string; recipient: string }[] | null
  /** Whether readers of the feed wait for an event. */
  isAwaited: boolean
  /** The transaction's time in milliseconds since 1970: `published_at` of the events. */
  publishedAt: number
  /** When the jobs were made, likewise: later than `publishedAt` in a transaction that began before. */
  madeAt: number
  /** `publishedAt` as text: `started_on` of the claimed jobs. */
  startedOn: string
  transactionId: string
}

interface ClaimedJob {
  id: string
  /** Which of the events, from 1. */
  event: number
  queue: string
  recipient: string | null
  /** See {@link RecipientVersion}; `null` of what is no recipient, or has a filter. */
  version: string | null
  /** A filter that is not decided yet: see `FanOutJob.filter`. */
  filter: object | null
  /** Whether it is of an ordered recipient, which may have an attempt. */
  isRestricted: boolean
}

/** Nothing is written where filters have to be asked first, of these events from 1, or again. */
type NotWritten = { filtered: number[] } | { filtersChanged: true }

const PUBLISH = `select svc."__svc.publish"($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
  $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28) as written`

/** Which of some events cannot be published at the moment. */
const HELD = `select to_json(svc."__svc.held"($1, $2, $3))::text as held`

/** Of filters: about the time that it takes to write a job. */
const STEPS_OF_JOB = 1000

/** How often filters are asked again that change all the time; then the last answer holds. */
const MOST_ASKS = 5

export const keyOf = ({ name, id }: { name: string; id: string }): string => `${name}\n${id}`

/** Writes the events and the jobs that follow from them, in one statement if no recipient has a filter. */
export async function publish(
  db: Db,
  toPublish: ToPublish,
  { retry, filters }: PublishTerms,
): Promise<Published> {
  const { events } = toPublish
  // Of other events Postgres says it where a recipient has a filter.
  const asked = new Set(events.flatMap((event, place) => (filters.areFor(event) ? [place] : [])))
  for (let asks = 0; ; asks++) {
    const matched = asked.size > 0 ? await matchRecipients(db, filters, events, asked) : null
    const askedAt = performance.now()
    const { rows } = await db.query(
      PUBLISH,
      valuesOf(toPublish, retry, asked, matched, asks < MOST_ASKS),
    )
    const { written: answer } = rows[0] as { written: string | null }
    if (answer === null) throw new InvalidTransaction(NOT_UTF8)
    // One text of JSON: a host may have set type parsers of its own for other types.
    const written = JSON.parse(answer) as Written | NotWritten
    if ('filtered' in written) for (const n of written.filtered) asked.add(n - 1)
    else if (!('filtersChanged' in written)) {
      return publishedFrom(written, events, retry, matched, askedAt)
    }
  }
}

function valuesOf(
  { events, attachedRow, offer = NO_OFFER, lockMs, commitsAtOnce = false }: ToPublish,
  retry: RetrySettings,
  asked: ReadonlySet<number>,
  recipients: MatchedRecipients | null,
  asksAgain: boolean,
): unknown[] {
  const matched = recipients?.matched
  const hasKeys = events.some(({ deduplicationKey }) => deduplicationKey)
  return [
    events.map(({ name }) => name),
    events.map(({ id }) => id),
    events.map(({ payload }) => payload),
    events.map(({ id }) => tenantOfEvent(id) ?? ''),
    events.some(({ traceContext }) => traceContext)
      ? events.map(({ traceContext }) => traceContext ?? '')
      : null,
    hasKeys ? events.map(({ deduplicationKey }) => deduplicationKey?.key ?? '') : null,
    hasKeys ? events.map(({ deduplicationKey }) => deduplicationKey?.ttlSeconds ?? 0) : null,
    matched ? Array.from(asked, (place) => place + 1) : null,
    recipients?.snapshot ?? null,
    asksAgain,
    matched?.map(({ event }) => event) ?? null,
    matched?.map(({ subscription }) => subscription) ?? null,
    matched?.map(({ recipient }) => recipient) ?? null,
    matched?.map(({ isUndecided }) => isUndecided) ?? null,
    [...offer.room.keys()],
    [...offer.room.values()],
    offer.fullRecipients,
    offer.owner,
    offer.endedJobs,
    retry.maxAttempts - 1,
    retry.retryDelaySeconds,
    retry.retryBackoff,
    retry.retryDelayMaxSeconds,
    ...attachedTo(events, attachedRow),
    lockMs ?? null,
    events.some(({ changed }) => changed) ? events.map(({ changed }) => changed ?? '') : null,
    commitsAtOnce,
  ]
}

const NO_OFFER: JobOffer = { owner: '', room: new Map(), fullRecipients: [], endedJobs: null }

const NOT_UTF8 =
  'events.publish: the session of db has another client_encoding than UTF8, so that Postgres would read other characters than were sent: set client_encoding to UTF8 before it'

/** The function that writes the attached rows, and these as JSON. */
function attachedTo(
  events: NewEvent[],
  ofAll: AttachedRow | undefined,
): [insertedBy: string | null, rows: string | null] {
  const attached = events.flatMap((event, place) =>
    event.attachedRow ? [{ ...event.attachedRow, its: [event], firstEvent: place + 1 }] : [],
  )
  if (ofAll) attached.push({ ...ofAll, its: events, firstEvent: 1 })
  const [first] = attached
  if (!first) return [null, null]
  const rows = attached.map(({ rowOf, its, firstEvent }) => ({
    ...rowOf(its.map(({ id }) => publishedEventId(id))),
    firstEvent,
    eventCount: its.length,
  }))
  return [first.insertedBy.name, storableJson(rows)]
}

function publishedFrom(
  written: Written,
  events: NewEvent[],
  retry: RetrySettings,
  recipients: MatchedRecipients | null,
  askedAt: number,
): Published {
  const created = written.created && new Set(written.created)
  const claimed = new Map<string, Job[]>()
  for (const one of written.claimed ?? []) {
    const job = jobOf(one, events[one.event - 1] as NewEvent, written, retry, askedAt)
    const others = claimed.get(one.queue)
    if (others) others.push(job)
    else claimed.set(one.queue, [job])
  }
  return {
    results: events.map(({ id, deduplicationKey }, place) => {
      const isNew = created === null || created.has(place + 1)
      // An event whose key was taken is not written, and one that existed is a duplicate.
      return deduplicationKey && !isNew ? null : { id: publishedEventId(id), duplicate: !isNew }
    }),
    made: created === null ? events.length : created.size,
    jobs: Math.max(written.jobs ?? 0, (recipients?.steps ?? 0) / STEPS_OF_JOB),
    waiting: {
      queues: [...(written.waiting ?? []), ...(written.isAwaited ? [FEED] : [])],
      restricted: recipientsOf(written.restricted ?? []),
    },
    claimed,
    transactionId: written.transactionId,
    unreadable: recipients?.unreadable ?? [],
  }
}

function recipientsOf(
  restricted: NonNullable<Written['restricted']>,
): ReadonlyMap<string, string[]> {
  const by = Map.groupBy(restricted, ({ queue }) => queue)
  return new Map(
    [...by].map(([queue, its]) => [queue, [...new Set(its.map(({ recipient }) => recipient))]]),
  )
}

function jobOf(
  { id, recipient, version, filter, isRestricted }: ClaimedJob,
  event: EventRow,
  { publishedAt, madeAt, startedOn }: Written,
  { maxAttempts }: RetrySettings,
  askedAt: number,
): Job<FanOutJob> {
  return {
    id,
    data: {
      event: event.name,
      eventId: event.id,
      ...(recipient === null ? {} : { recipient }),
      deliveryId: id,
      ...(filter === null ? {} : { filter }),
    },
    attempt: 1,
    attemptsLeft: maxAttempts - 1,
    recipient,
    createdAt: new Date(madeAt),
    retryCount: 0,
    startedOn,
    published: {
      payload: event.payload,
      publishedAt: new Date(publishedAt),
      traceContext: event.traceContext ?? null,
      changed: event.changed ?? null,
    },
    ...(version === null ? {} : { recipientVersion: { version, askedAt } }),
    ...(isRestricted ? { permit: { id: null, askedAt } } : {}),
  }
}

/** Which of the events, from 0, an open transaction holds: their keys, or the ids of those without one. */
export async function findHeld(db: Db, events: readonly NewEvent[]): Promise<Set<number>> {
  const { rows } = await db.query(HELD, [
    events.map(({ name }) => name),
    events.map(({ id }) => id),
    events.map(({ deduplicationKey }) => deduplicationKey?.key ?? ''),
  ])
  const { held } = rows[0] as { held: string }
  return new Set((JSON.parse(held) as number[]).map((n) => n - 1))
}
