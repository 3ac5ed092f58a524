/**
 * The jobs whose attempts are used up. When the last failed attempt is settled,
 * pg-boss copies the job to `<queue>.dlq`. The ids are UUIDv7: newest first is a sort by id. Lists
 * and counts leave out the dead letters that work in the background is about to redrive or delete
 * (see recipients/work-table.ts). redrive-dead-letters.ts makes jobs of them.
 */
import type { Db } from '../../postgres/transaction.ts'
import { LOST_MESSAGES, deadLetterQueueOf, type DeadLetter } from '../job.ts'
import { IS_TEST } from './contract.ts'
import { publishedEventIdIn } from './jobs-table-setup.ts'

export const COLUMNS = `letter.id, letter.data, letter.source_output as output,
  letter.source_retry_count + 1 as attempts,
  extract(epoch from letter.created_on)::float8 * 1000 as "deadAt"`

/** The condition of the index in jobs-table-setup.ts. As a parameter the planner would not see it. */
export const IN_INDEX = `letter.name like '%.dlq'`

/** The id of a letter's event as its publish gave it: see event-id.ts. The expression of an index. */
const PUBLISHED_EVENT_ID = publishedEventIdIn('letter.data')

/** The kinds of work that take dead letters: see recipients/work-table.ts. */
const TAKES_LETTERS = `work.what in ('discard', 'redrive', 'dead') and work.finished_at is null`

/**
 * Whether work that began before `before` is about to take a dead letter of the queue `$1`. Where two would
 * take the same letters, the first one takes them. A recovery (`dead`) takes no tests.
 */
export const isReserved = (before: string): string => `exists (
    select from svc."__svc.work" as work
     where work.queue = $1 and work.recipient = letter.singleton_key and ${TAKES_LETTERS}
       and letter.id >= svc."__svc.first_uuid"(work.since)
       and letter.id < svc."__svc.first_uuid"(work.until)
       and work.created_at < ${before}
       and not (work.what = 'dead' and letter.data @> ${IS_TEST}))`

/**
 * Whether any of the recipients `$3`, or of all, may be reserved: unlike that of one, the answer is the same for
 * all letters.
 */
const MAY_BE_RESERVED = `exists (
    select from svc."__svc.work" as work
     where work.queue = $1 and ($3::text[] is null or work.recipient = any($3)) and ${TAKES_LETTERS})`

/** Whether it is a dead letter of the queue `$1`, whose dead-letter queue is `$2`. */
const IS_LISTED = `letter.name = $2 and ${IN_INDEX} and not ${isReserved(`'infinity'`)}`

/**
 * A bound for the index where the letters of one recipient are read: work without a `since` takes all that are
 * older than its `until`, which may be millions. Without this each of them would be looked at.
 */
const notMoved = (recipient: string): string => `letter.id >= coalesce((
    select svc."__svc.first_uuid"(max(work.until)) from svc."__svc.work" as work
     where work.queue = $1 and work.recipient = ${recipient} and work.what in ('discard', 'redrive')),
  '00000000-0000-0000-0000-000000000000')`

/** A filter that is missing or `undefined` excludes nothing. */
export interface DeadLetterFilter {
  recipient?: string | undefined
  /** Only dead letters of these recipients. */
  recipients?: string[] | undefined
  limit?: number | undefined
  after?: string | undefined
  ids?: string[] | undefined
  /** The `deliveryId` in the job's data. */
  deliveryId?: string | undefined
  event?: string | undefined
  /** What the names of events begin with that are left out. */
  except?: string | undefined
  /** The id as the publish gave it. */
  eventId?: string | undefined
  /** The `statusCode` in what the last attempt left. */
  statusCode?: number | undefined
  /** When it died, as ISO 8601: from … */
  since?: string | undefined
  /** … to, not included. */
  until?: string | undefined
}

/** Newest first. */
export async function listDeadLetters<Data>(
  db: Db,
  queue: string,
  filter: DeadLetterFilter,
): Promise<DeadLetter<Data>[]> {
  const { recipient, recipients, limit, after, ids, deliveryId, event, eventId } = filter
  const { statusCode, since, until, except } = filter
  const select = (condition: string) => `
    select ${COLUMNS}
      from svc_jobs.job as letter
     where ${IS_LISTED} and ${condition}
       and ($4::uuid[] is null or letter.id = any($4))
       and ($5::uuid is null or letter.id < $5)
       and ($6::text is null or letter.data ->> 'deliveryId' = $6)
       and ($8::text is null or letter.data ->> 'event' = $8)
       and ($9::text is null or ${PUBLISHED_EVENT_ID} = $9)
       and ($10::text is null or letter.source_output ->> 'statusCode' = $10)
       and ($11::timestamptz is null or letter.id >= svc."__svc.first_uuid"($11))
       and ($12::timestamptz is null or letter.id < svc."__svc.first_uuid"($12))
       and ($13::text is null or not starts_with(letter.data ->> 'event', $13))
     order by letter.id desc
     limit $7`
  const { rows } = await db.query(
    recipients === undefined
      ? select(
          // With a bound of null the planner could not estimate how many letters match.
          recipient === undefined
            ? '$3::text is null'
            : `letter.singleton_key = $3 and ${notMoved('$3')}`,
        )
      : // One index scan for each recipient, of no more rows than the page has.
        `select letter.* from unnest($3::text[]) as wanted (group_id)
          cross join lateral (${select(`letter.singleton_key = wanted.group_id and ${notMoved('wanted.group_id')}`)}) as letter
          order by letter.id desc limit $7`,
    [
      queue,
      deadLetterQueueOf(queue),
      recipients ?? recipient ?? null,
      ids ?? null,
      after ?? null,
      deliveryId?.toLowerCase() ?? null,
      limit ?? null,
      event ?? null,
      eventId ?? null,
      statusCode === undefined ? null : String(statusCode),
      since ?? null,
      until ?? null,
      except ?? null,
    ],
  )
  return rows.map((row: DeadLetter<Data>) => asDeadLetter(row))
}

interface OfQueues {
  prefix: string
  queue: string | null
}

/** Dead letters of queues without recipients, newest first, each with its queue. One index scan for each queue. */
export async function listDeadLettersOfQueues<Data>(
  db: Db,
  { prefix, queue }: OfQueues,
  { event, since, until, limit, after }: DeadLetterFilter,
): Promise<(DeadLetter<Data> & { queue: string })[]> {
  const { rows } = await db.query(
    `select letter.*
       from svc_jobs.queue as known
      cross join lateral (
        select ${COLUMNS}, known.name as queue
          from svc_jobs.job as letter
         where letter.name = known.name || '.dlq' and ${IN_INDEX}
           and ($3::text is null or letter.data ->> 'event' = $3)
           and ($4::timestamptz is null or letter.id >= svc."__svc.first_uuid"($4))
           and ($5::timestamptz is null or letter.id < svc."__svc.first_uuid"($5))
           and ($6::uuid is null or letter.id < $6)
         order by letter.id desc limit $7
      ) as letter
      where starts_with(known.name, $1) and ($2::text is null or known.name = $2)
      order by letter.id desc limit $7`,
    [prefix, queue, event ?? null, since ?? null, until ?? null, after ?? null, limit ?? null],
  )
  return rows.map((row: DeadLetter<Data> & { queue: string }) => ({ ...row, ...asDeadLetter(row) }))
}

export async function deleteDeadLetterOfQueues<Data>(
  db: Db,
  prefix: string,
  id: string,
): Promise<{ queue: string; data: Data } | undefined> {
  const { rows } = await db.query(
    `delete from svc_jobs.job as letter
      where letter.name = any(array(
              select name || '.dlq' from svc_jobs.queue where starts_with(name, $1)))
        and letter.id = $2 and ${IN_INDEX}
     returning left(letter.name, -4) as queue, letter.data`,
    [prefix, id],
  )
  return rows[0]
}

export async function recipientsOfDeadLetters(
  db: Db,
  queue: string,
  { since, until }: { since: string; until: string },
): Promise<string[]> {
  const { rows } = await db.query(
    `select distinct letter.singleton_key as recipient from svc_jobs.job as letter
      where letter.name = $1 and ${IN_INDEX} and letter.singleton_key is not null
        and letter.id >= svc."__svc.first_uuid"($2) and letter.id < svc."__svc.first_uuid"($3)
        and not letter.data @> ${IS_TEST}`,
    [deadLetterQueueOf(queue), since, until],
  )
  return rows.map(({ recipient }: { recipient: string }) => recipient)
}

/** Those of some recipients, or of all; at most `most` of them. */
export async function countDeadLetters(
  db: Db,
  queue: string,
  {
    recipients,
    since,
    until,
    except,
    reservedBefore = 'infinity',
    withoutTests = false,
  }: Pick<DeadLetterFilter, 'recipients' | 'since' | 'until' | 'except'> & {
    reservedBefore?: string
    withoutTests?: boolean
  },
  most: number | null = null,
): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int as count from (
       select from svc_jobs.job as letter
        where letter.name = $2 and ${IN_INDEX} and ($3::text[] is null or letter.singleton_key = any($3))
          and (not ${MAY_BE_RESERVED} or not ${isReserved('$6::timestamptz')})
          and ($4::timestamptz is null or letter.id >= svc."__svc.first_uuid"($4))
          and ($5::timestamptz is null or letter.id < svc."__svc.first_uuid"($5))
          and ($8::text is null or not starts_with(letter.data ->> 'event', $8))
          and not ($9 and letter.data @> ${IS_TEST})
        limit $7) as counted`,
    [
      queue,
      deadLetterQueueOf(queue),
      recipients ?? null,
      since ?? null,
      until ?? null,
      reservedBefore,
      most,
      except ?? null,
      withoutTests,
    ],
  )
  return (rows[0] as { count: number }).count
}

export interface DeadLetterSelection {
  /** @default all of a queue without recipients */
  recipient?: string
  ids?: string[] | undefined
  afterId?: string | undefined
  since?: string
  until?: string
  /** Leaves out what work that began before this moment is about to take. */
  reservedBefore?: string
  withoutTests?: boolean
}

export interface Moved {
  count: number
  /** The id of the last one; a portion that begins after it skips what this one has left behind. */
  lastId: string | null
}

/** A portion of those of a recipient. Returns how many. */
export async function deleteDeadLetters(
  db: Db,
  queue: string,
  recipient: string,
  portion: number,
): Promise<number> {
  const { rowCount } = await db.query(
    `with portion as materialized (
       select letter.id from svc_jobs.job as letter
        where letter.name = $1 and ${IN_INDEX} and letter.singleton_key = $2
        order by letter.id limit $3
        for update skip locked
     )
     delete from svc_jobs.job as letter
      where letter.name = $1 and letter.id = any(array(select id from portion))`,
    [deadLetterQueueOf(queue), recipient, portion],
  )
  return rowCount ?? 0
}

export async function deleteDeadLetter(db: Db, queue: string, id: string): Promise<void> {
  await db.query(`delete from svc_jobs.job where name = $1 and id = $2`, [
    deadLetterQueueOf(queue),
    id,
  ])
}

/** Deletes those dead letters of these recipients that this transaction has made. */
export async function dropDeadLetters(db: Db, queue: string, recipients: string[]): Promise<void> {
  await db.query(
    `delete from svc_jobs.job as letter
      where letter.name = $1 and ${IN_INDEX} and letter.singleton_key = any($2::text[])
        and letter.id >= svc."__svc.first_uuid"(now())`,
    [deadLetterQueueOf(queue), recipients],
  )
}

/** Rows that one statement of `deleteOldDeadLetters` deletes. */
const OLD_PORTION = 2000

/** Deletes, in portions, dead letters of all queues under `prefix` that are older than `days`. */
export async function deleteOldDeadLetters(
  db: Db,
  prefix: string,
  days: number,
  stopping?: AbortSignal,
): Promise<void> {
  const { rows } = await db.query(
    `select name from svc_jobs.queue where starts_with(name, $1) and name like '%.dlq'`,
    [prefix],
  )
  for (const { name } of rows as { name: string }[]) {
    for (let more = true; more && !stopping?.aborted;) {
      const { rowCount } = await db.query(
        `with portion as materialized (
           select letter.id from svc_jobs.job as letter
            where letter.name = $1
              and letter.id < svc."__svc.first_uuid"(now() - make_interval(days => $2))
            limit $3 for update skip locked
         )
         delete from svc_jobs.job as letter
          where letter.name = $1 and letter.id = any(array(select id from portion))`,
        [name, days, OLD_PORTION],
      )
      more = rowCount === OLD_PORTION
    }
  }
}

export const asDeadLetter = <Data>(row: DeadLetter<Data>): DeadLetter<Data> => ({
  ...row,
  output: isLost(row.output) ? undefined : row.output,
  deadAt: new Date(row.deadAt),
})

function isLost(output: unknown): boolean {
  const value = (output as { value?: { message?: unknown } } | null)?.value
  return LOST_MESSAGES.some((message) => message === value?.message)
}
