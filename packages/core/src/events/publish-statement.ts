/**
 * The SQL statement that every publish runs: it writes the events, and a job for each recipient.
 * Where the publishing process has room for an attempt, the job is inserted as claimed by it: such
 * a job needs no fetch, because the process has its payload. publish-events.ts and
 * publish-deduplicated.ts call it.
 */
import { InvalidTransaction } from '../errors.ts'
import type { Db } from '../postgres/transaction.ts'
import type { DeduplicationKey } from '../kv/kv-table.ts'
import type { RetrySettings } from '../jobs/retry-settings.ts'
import type { InsertedRows } from './attached-rows.ts'
import { tenantOfEvent } from './event-id.ts'
import type { UndecidedFilter } from './undecided-filters.ts'
import type { EventRow } from './events-table.ts'
import type { KnownFilters } from './known-filters.ts'
import { matchRecipients, type MatchedRecipients } from './recipient-filters.ts'

/** What the publishing process may claim of the jobs that follow. */
export interface JobOffer {
  /** Names the process in the jobs that it claims, see processes/process-lock.ts. */
  owner: string | null
  /** Free slots for attempts, by the name of their queue. */
  room: ReadonlyMap<string, number>
  /** Groups that have all the slots that they may have. */
  fullGroups: string[]
}

/** A job that the publishing process has claimed. */
export interface ClaimedJob {
  id: string
  queue: string
  recipient: string | null
  /** See {@link RecipientVersion}; `null` of what is no recipient, or has a filter. */
  version: string | null
  /** Which of the events, from 1. */
  event: number
  /** A filter that is not decided yet: see `FanOutJob.filter`. */
  filter?: object
}

export interface Written {
  /** Which of the events are new, from 1; the others existed. */
  created: number[]
  /** Jobs that followed. */
  jobs: number
  /** The queues with jobs that wait to be fetched. */
  queues: string[]
  /** The recipients with jobs that wait for what restricts them, one for each job. */
  restricted: { queue: string; recipient: string }[]
  /** Jobs that this process has claimed. */
  claimed: ClaimedJob[]
  /** Before the statement was sent, by the monotonic clock. */
  askedAt: number
  /** The transaction's time in milliseconds since 1970: `published_at` of the events. */
  publishedAt: number
  /** When the jobs were made, likewise: later than `publishedAt` in a transaction that began before. */
  madeAt: number
  /** `publishedAt` as text of Postgres: `started_on` of the claimed jobs. */
  startedOn: string
  /** The transaction in which it was written. */
  transactionId: string
  /** Recipients that get no job, since their filters cannot be read. */
  unreadable?: UndecidedFilter[]
  /** The work of the filters, in steps. */
  filterSteps?: number
}

/**
 * A statement in a transaction of a caller. It names nothing that the caller's search_path could decide, as
 * the functions that it calls have one of their own. With another encoding, what is sent would be read as
 * other characters: then it does nothing.
 */
const inUtf8 = (call: string): string => `select case
  when pg_catalog.current_setting('client_encoding') operator(pg_catalog.=) 'UTF8' then ${call}
  end as written`

/**
 * '' stands for null in arrays, which hold null only where the setting array_nulls is on: the transaction
 * of a caller may have it off.
 */
const nullable = (array: string): string =>
  `pg_catalog.array_replace(${array}::pg_catalog.text[], '', null)`

/** Its SQL describes what it does. */
const PUBLISH = inUtf8(`svc."__svc.publish"(
  $1, $2, $3, ${nullable('$4')}, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
  $17, ${nullable('$18')}, $19, $20, $21, $22)`)

/** The same for one event that no recipient filters. */
const PUBLISH_ONE = inUtf8(`svc."__svc.publish_one"(
  $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`)

/** Which of some events cannot be published at the moment. */
const HELD = `select to_json(svc."__svc.held"($1, $2, $3))::text as held`

/**
 * `PUBLISH` as a statement that also calls a function that inserts rows. The function is not called where
 * Postgres answers that filters have to be matched first: the statement is then run again.
 */
const publishWith = (call: string): string => `with published as materialized (${PUBLISH})
  select written, (
           select ${call}
             from (select array(select json_array_elements_text(written::json -> 'created')::int))
                    as created (numbers)
            where written::json -> 'created' is not null
         ) as inserted
    from published`

/** The terms of a publish. */
export interface PublishTerms {
  /** Attempts and delays of the jobs. */
  retry: RetrySettings
  filters: KnownFilters
}

/** What a publish writes, and on which terms. */
export interface ToWrite extends PublishTerms {
  events: EventRow[]
  offer?: JobOffer | undefined
  /** One for each event, which is written where its key is free, and takes it. */
  keys?: DeduplicationKey[]
  /** Rows to write with them. */
  inserted?: InsertedRows | undefined
  /**
   * The longest wait for a transaction that holds the id or the key of one of them; a longer one is an
   * error 55P03. @default as the session has it: the transaction of a caller has its own terms
   */
  lockMs?: number | undefined
}

const NOTHING: Written = {
  created: [],
  jobs: 0,
  queues: [],
  restricted: [],
  claimed: [],
  askedAt: 0,
  publishedAt: 0,
  madeAt: 0,
  startedOn: '',
  transactionId: '',
}

/** How often filters are asked again that change all the time; then the last answer holds. */
const MOST_ASKS = 5

/** Writes the events and the jobs that follow from them. */
export async function writeEvents(db: Db, toWrite: ToWrite, asks = 0): Promise<Written> {
  const { events, filters } = toWrite
  if (events.length === 0) return NOTHING
  const isFiltered =
    asks > 0 || events.some(({ name, id }) => filters.areFor(name, tenantOfEvent(id)))
  const recipients = isFiltered ? await matchRecipients(db, filters, events) : null
  const written = isPlain(toWrite, recipients)
    ? await callPublishOne(db, toWrite)
    : await callPublish(db, toWrite, recipients, asks < MOST_ASKS)
  if ('filtersChanged' in written || 'hasFilters' in written) {
    return writeEvents(db, toWrite, asks + 1)
  }
  if (!recipients) return written
  const { unreadable, steps: filterSteps } = recipients
  return { ...written, unreadable, filterSteps }
}

/** Nothing is written where filters have to be asked first, or again. */
type NotWritten = { hasFilters: true } | { filtersChanged: true }

/** What `PUBLISH_ONE` can write. */
const isPlain = (
  { events, keys, inserted }: ToWrite,
  recipients: MatchedRecipients | null,
): boolean => events.length === 1 && !keys && !inserted && !recipients

function callPublishOne(
  db: Db,
  { events, retry, offer = NO_OFFER, lockMs }: ToWrite,
): Promise<Written | NotWritten> {
  const [event] = events as [EventRow]
  return call(db, PUBLISH_ONE, [
    event.name,
    event.id,
    event.payload,
    tenantOfEvent(event.id),
    traceContextOf(event),
    ...offered(offer),
    ...retrying(retry),
    lockMs ?? null,
  ])
}

function callPublish(
  db: Db,
  { events, retry, offer = NO_OFFER, keys, inserted, lockMs }: ToWrite,
  recipients: MatchedRecipients | null,
  asksAgain: boolean,
): Promise<Written | NotWritten> {
  const matched = recipients?.matched ?? null
  return call(db, inserted ? publishWith(inserted.call) : PUBLISH, [
    events.map(({ name }) => name),
    events.map(({ id }) => id),
    events.map(({ payload }) => payload),
    events.map(({ id }) => tenantOfEvent(id) ?? ''),
    keys?.map(({ key }) => key) ?? null,
    keys?.map(({ ttlSeconds }) => ttlSeconds) ?? null,
    matched && matched.map(({ event }) => event),
    matched && matched.map(({ subscription }) => subscription),
    matched && matched.map(({ recipient }) => recipient),
    ...offered(offer),
    ...retrying(retry),
    events.some(({ traceContext }) => traceContext)
      ? events.map(({ traceContext }) => traceContext ?? '')
      : null,
    recipients?.snapshot ?? null,
    asksAgain,
    matched && matched.map(({ isUndecided }) => isUndecided),
    lockMs ?? null,
    ...(inserted?.values ?? []),
  ])
}

/** Which of the events, from 0, an open transaction holds: their ids, or their keys where these are given. */
export async function findHeld(
  db: Db,
  events: readonly EventRow[],
  keys: readonly string[] | null,
): Promise<Set<number>> {
  const names = events.map(({ name }) => name)
  const { rows } = await db.query(HELD, [names, events.map(({ id }) => id), keys])
  const { held } = rows[0] as { held: string }
  return new Set((JSON.parse(held) as number[]).map((n) => n - 1))
}

const offered = ({ room, fullGroups, owner }: JobOffer): unknown[] => [
  [...room.keys()],
  [...room.values()],
  fullGroups,
  owner,
]

const retrying = (retry: RetrySettings): unknown[] => [
  retry.maxAttempts - 1,
  retry.retryDelaySeconds,
  retry.retryBackoff,
  retry.retryDelayMaxSeconds,
]

/** The answer is one text of JSON: a host may have set type parsers of its own for other types. */
async function call(db: Db, statement: string, values: unknown[]): Promise<Written | NotWritten> {
  const askedAt = performance.now()
  const { rows } = await db.query(statement, values)
  const { written: answer } = rows[0] as { written: string | null }
  if (answer === null) throw new InvalidTransaction(NOT_UTF8)
  const written = JSON.parse(answer) as Omit<Written, 'askedAt'> | NotWritten
  return { ...written, askedAt }
}

const NOT_UTF8 =
  'events.publish: the session of db has another client_encoding than UTF8, so that Postgres would read other characters than were sent: set client_encoding to UTF8 before it'

const traceContextOf = ({ traceContext }: EventRow): string | null => traceContext ?? null

const NO_OFFER: JobOffer = { owner: null, room: new Map(), fullGroups: [] }
