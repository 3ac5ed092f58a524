/**
 * The one statement of a publish: the events, and a job for each recipient. Where the publishing
 * process has room for an attempt, the job is inserted as claimed by it: it needs no fetch, and its
 * payload is in hand.
 */
import type { Db } from '../postgres/transaction.ts'
import type { Claim } from '../kv/kv-table.ts'
import type { RetrySettings } from '../jobs/pg-boss/dead-letters.ts'
import { tenantOfEvent } from './event-id.ts'
import type { EventRow } from './events-table.ts'

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
  group: string | null
  /** Which of the events, from 1. */
  event: number
}

export interface Written {
  /** Which of the events are new, from 1; the others existed. */
  created: number[]
  /** Jobs that followed. */
  jobs: number
  /** The queues with jobs that wait to be fetched. */
  queues: string[]
  /** Jobs that this process has claimed. */
  claimed: ClaimedJob[]
  /** The transaction's time in milliseconds since 1970: `published_at` of the events. */
  publishedAt: number
  /** The same as text of Postgres: `started_on` of the claimed jobs. */
  startedOn: string
  /** The transaction in which it was written. */
  transactionId: string
}

/** The function is made by sql/007-publish.sql, which says what it does. */
const PUBLISH = `select svc."__svc.publish"(
  $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) as written`

/**
 * With `keys`, one for each event, an event is written where its key is free, and takes it. The answer
 * is one text of JSON: a host may have taught pg to read other types in its own way.
 */
export async function writeEvents(
  db: Db,
  events: EventRow[],
  retry: RetrySettings,
  offer: JobOffer = NO_OFFER,
  keys: Claim[] | null = null,
): Promise<Written> {
  const { rows } = await db.query(PUBLISH, [
    events.map(({ name }) => name),
    events.map(({ id }) => id),
    events.map(({ payload }) => payload),
    events.map(({ id }) => tenantOfEvent(id)),
    keys && keys.map(({ key }) => key),
    keys && keys.map(({ ttlSeconds }) => ttlSeconds),
    [],
    [],
    [],
    [...offer.room.keys()],
    [...offer.room.values()],
    offer.fullGroups,
    offer.owner,
    retry.maxAttempts - 1,
    retry.retryDelaySeconds,
    retry.retryBackoff,
    retry.retryDelayMaxSeconds,
  ])
  return JSON.parse((rows[0] as { written: string }).written) as Written
}

const NO_OFFER: JobOffer = { owner: null, room: new Map(), fullGroups: [] }
