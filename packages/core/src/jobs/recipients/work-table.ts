/**
 * The table of work on many jobs of one recipient, which is carried out in portions. Of recoveries, which deliver
 * many deliveries again, it keeps the progress, and lists them.
 */
import { uuidv7 } from '../../ids.ts'
import { ADVISORY_LOCKS } from '../../postgres/advisory-locks.ts'
import type { Db } from '../../postgres/transaction.ts'

export interface NewRecovery {
  queue: string
  recipient: string
  /**
   * `dead`: dead letters. `failed`: jobs that wait for their next attempt. `missing`: what the
   * worker of the queue determines.
   */
  what: 'dead' | 'failed' | 'missing'
  /** ISO 8601. */
  since: string
  /** Not included. */
  until: string
  /** How many deliveries are recovered in a second at most. */
  perSecond: number | null
  /** How many deliveries there are in all; `null` until they are counted. */
  deliveries: number | null
}

export interface Recovery extends NewRecovery {
  id: string
  done: number
  createdAt: string
  finishedAt: string | null
  /** Whether it was noted which transactions were open as it began: it is counted when they have ended. */
  hasNotedTransactions: boolean
  /** `null` at the beginning. */
  position: RecoveryPosition | null
}

/**
 * `discard`: delete the jobs that wait, and the dead letters. `due`: make the jobs due. `redrive`: put the dead
 * letters back on their way.
 */
export type Unlisted = 'discard' | 'due' | 'redrive'

export interface Work extends Omit<Recovery, 'what'> {
  what: Recovery['what'] | Unlisted
}

/** Where the next portion begins. */
export type RecoveryPosition =
  /** Of dead letters: after the one with this id. */
  | { afterId: string }
  /** Of what is missing, while it is counted: up to here, of the span that ends at `until`. */
  | { countedTo: string; until: string }

export interface RecoveredPortion {
  done: number
  isFinished: boolean
  /** Where the next one begins. @default at the beginning */
  position?: RecoveryPosition | null
  /** How long the next one waits at least, in seconds. @default 0 */
  waitSeconds?: number
}

const COLUMNS = `id, queue, recipient, what, since, until, per_second as "perSecond",
  deliveries, done, created_at as "createdAt", finished_at as "finishedAt",
  after_transaction is not null as "hasNotedTransactions", position`

export async function insertRecovery(db: Db, recovery: NewRecovery): Promise<Recovery> {
  const { queue, recipient, what, since, until, perSecond, deliveries } = recovery
  const { rows } = await db.query(
    `insert into svc."__svc.work"
       (id, queue, recipient, what, since, until, per_second, deliveries)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${COLUMNS}`,
    [uuidv7(), queue, recipient, what, since, until, perSecond, deliveries],
  )
  return asRecovery(rows[0])
}

/** Work on all that a recipient has until now, which is not listed. Its dead letters of this millisecond are included. */
export async function insertWork(
  db: Db,
  queue: string,
  recipient: string,
  what: Unlisted,
): Promise<void> {
  await db.query(
    `insert into svc."__svc.work" (id, queue, recipient, what, until)
     values ($1, $2, $3, $4, now() + interval '1 millisecond')`,
    [uuidv7(), queue, recipient, what],
  )
}

/**
 * The work of these queues that is due next, locked until the transaction ends; what other processes have
 * locked is skipped. A transaction that stays open holds a recovery up for minutes at most.
 */
export async function lockWork(db: Db, queues: string[]): Promise<Work | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.work"
      where queue = any($1::text[]) and finished_at is null and next_at <= now()
        and (after_transaction is null
             or after_transaction <= pg_snapshot_xmin(pg_current_snapshot())
             or created_at < now() - interval '5 minutes')
      order by next_at limit 1 for update skip locked`,
    [queues],
  )
  return rows[0] && asRecovery(rows[0])
}

/** A portion of it has failed: it is not due before. Nothing where another process has it by now. */
export async function postponeWork(db: Db, id: string, ms: number): Promise<void> {
  await db.query(
    `update svc."__svc.work" set next_at = clock_timestamp() + $2 * interval '1 millisecond'
      where id = any(array(
        select id from svc."__svc.work"
         where id = $1 and finished_at is null for update skip locked))`,
    [id, ms],
  )
}

export async function nextWorkInMs(db: Db, queues: string[]): Promise<number | null> {
  const { rows } = await db.query(
    `select extract(epoch from min(next_at) - now())::float8 * 1000 as ms
       from svc."__svc.work" where queue = any($1::text[]) and finished_at is null`,
    [queues],
  )
  return rows[0].ms
}

/** As {@link lockRecoveries}, where no other transaction has it. Returns whether it has it now. */
export async function tryLockRecoveries(db: Db, recipient: string): Promise<boolean> {
  const { rows } = await db.query(
    `select pg_try_advisory_xact_lock(${ADVISORY_LOCKS.recoveries}, hashtext($1)) as "isLocked"`,
    [recipient],
  )
  return rows[0].isLocked
}

/** No other transaction begins a recovery of the recipient until this one ends. */
export async function lockRecoveries(db: Db, recipient: string): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.recoveries}, hashtext($1))`, [
    recipient,
  ])
}

/** The end of a span that has passed by the clock of Postgres; without `until` now. */
export async function endedSpan(db: Db, until: string | null): Promise<string> {
  const { rows } = await db.query(
    `select least($1::timestamptz, clock_timestamp() + interval '1 millisecond') as until`,
    [until],
  )
  return isoOf(rows[0].until)
}

/** Notes which transactions are open now: the recovery is due again when they have ended, to be counted. */
export async function noteOpenTransactions(db: Db, { id }: Recovery): Promise<void> {
  await db.query(
    `update svc."__svc.work"
        set after_transaction = pg_snapshot_xmax(pg_current_snapshot()) where id = $1`,
    [id],
  )
}

export async function setCounted(db: Db, id: string, deliveries: number): Promise<void> {
  await db.query(
    `update svc."__svc.work" set deliveries = $2, after_transaction = null where id = $1`,
    [id, deliveries],
  )
}

/**
 * The next portion follows when the pace allows it, and after as much time as this one took, up to a
 * second: whichever process carries it out, other work gets half of the time.
 */
export async function recordPortion(
  db: Db,
  work: Work,
  { done, isFinished, position = null, waitSeconds = 0 }: RecoveredPortion,
): Promise<Work> {
  const { id, perSecond } = work
  if (isFinished && !isListed(work.what)) {
    await db.query('delete from svc."__svc.work" where id = $1', [id])
    return { ...work, finishedAt: new Date().toISOString() }
  }
  const { rows } = await db.query(
    `update svc."__svc.work"
        set done = case when $3 and what = 'failed' then deliveries
                        else least(done + $2::int, deliveries) end,
            finished_at = case when $3 then now() end,
            position = $5,
            next_at = clock_timestamp() + greatest(
              least(clock_timestamp() - now(), interval '1 second'),
              make_interval(secs => $2::int / coalesce($4::float8, 'Infinity')),
              make_interval(secs => $6))
      where id = $1 returning ${COLUMNS}`,
    [id, done, isFinished, perSecond, position && JSON.stringify(position), waitSeconds],
  )
  return asRecovery(rows[0])
}

/** Whether it is a recovery. */
export const isListed = (what: Work['what']): what is Recovery['what'] =>
  what === 'dead' || what === 'failed' || what === 'missing'

export interface RecoveryPage {
  recipient: string
  id?: string | undefined
  after?: string | undefined
  limit?: number | undefined
}

/** Newest first. */
export async function listRecoveries(
  db: Db,
  queue: string,
  { recipient, id, after, limit }: RecoveryPage,
): Promise<Recovery[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.work"
      where queue = $1 and recipient = $2 and what in ('dead', 'failed', 'missing')
        and ($3::uuid is null or id = $3) and ($4::uuid is null or id < $4)
      order by id desc limit $5`,
    [queue, recipient, id ?? null, after ?? null, limit ?? null],
  )
  return rows.map(asRecovery)
}

/** Deletes the work on recipients whose jobs are deleted. */
export async function deleteWorkOn(
  db: Db,
  queue: string,
  recipients: readonly string[],
): Promise<void> {
  await db.query(`delete from svc."__svc.work" where queue = $1 and recipient = any($2::text[])`, [
    queue,
    recipients,
  ])
}

export async function sweepRecoveries(db: Db, days: number): Promise<void> {
  await db.query(
    `delete from svc."__svc.work" where finished_at < now() - make_interval(days => $1)`,
    [days],
  )
}

/** A host may have set parsers in pg that turn timestamps into something else than dates. */
const asRecovery = <Row extends Work>(row: Row): Row => ({
  ...row,
  // From the beginning of time.
  since: isFinite(+new Date(row.since)) ? isoOf(row.since) : '-infinity',
  until: isoOf(row.until),
  createdAt: isoOf(row.createdAt),
  finishedAt: row.finishedAt && isoOf(row.finishedAt),
})

const isoOf = (time: string | Date): string => new Date(time).toISOString()
