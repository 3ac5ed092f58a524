/** The table of moves, each of many jobs of one group, and the portions in which they are carried out. */
import type { Db } from '../../postgres/transaction.ts'
import { deleteDeadLetters, type Moved } from '../pg-boss/dead-letters.ts'
import type { RetrySettings } from '../retry-settings.ts'
import { redriveDeadLetters } from '../pg-boss/redrive-dead-letters.ts'
import { recordParked, setHeld } from '../pg-boss/groups-table.ts'
import { discardParked } from '../pg-boss/parked-jobs.ts'
import { parkWaiting, SCAN_START, type ScanPosition } from '../pg-boss/park-jobs.ts'
import type { Worker } from '../worker.ts'

export interface JobMove {
  id: string
  queue: string
  group: string
  kind: 'discard' | 'redrive' | 'bury'
  /** For dead letters: only those with a smaller id are moved. */
  beforeId: string | null
  /** For dead letters: the next portion begins after this one; `null` at the beginning. */
  afterId: string | null
  /** The time as text. */
  createdAt: string
}

/** Rows that one transaction moves, so that its locks are few and short. */
const PORTION = 1000

export async function insertMove(
  db: Db,
  queue: string,
  group: string,
  kind: JobMove['kind'],
): Promise<void> {
  await db.query(
    `insert into svc."__svc.moves" (queue, recipient, kind, created_at, before_id)
     values ($1, $2, $3::text, clock_timestamp(),
       -- Of the next millisecond: dead letters of this one are included.
       case when $3::text <> 'discard' then svc."__svc.first_uuid"(now() + interval '1 millisecond') end)`,
    [queue, group, kind],
  )
}

/**
 * The next move of these queues after `after`, so that moves take turns. It is locked until the
 * transaction ends; moves that other processes have locked are skipped, and those with the ids `except`.
 */
export async function lockMove(
  db: Db,
  queues: string[],
  after: string,
  except: string[] = [],
): Promise<JobMove | undefined> {
  const { rows } = await db.query(
    `select id::text, queue, recipient as "group", kind, before_id as "beforeId",
            after_id as "afterId", created_at::text as "createdAt"
       from svc."__svc.moves"
      where queue = any($1::text[]) and id <> all($3::bigint[])
      order by id <= $2::bigint, id limit 1 for update skip locked`,
    [queues, after, except],
  )
  return rows[0]
}

/** The next portion begins after this dead letter: at the beginning it would read what is gone already. */
async function setPosition(db: Db, { id }: JobMove, afterId: string | null): Promise<void> {
  await db.query(`update svc."__svc.moves" set after_id = $2 where id = $1`, [id, afterId])
}

export async function deleteMove(db: Db, { id }: JobMove): Promise<void> {
  await db.query(`delete from svc."__svc.moves" where id = $1`, [id])
}

/** Where the scan of a move continues; `null` after its end. */
export type Progress = Map<string, ScanPosition | null>

/** Moves that other processes have finished are in the table no longer. */
export async function forgetFinished(db: Db, progress: Progress): Promise<void> {
  if (progress.size === 0) return
  const { rows } = await db.query(
    `select id::text from svc."__svc.moves" where id = any($1::bigint[])`,
    [[...progress.keys()]],
  )
  const left = new Set(rows.map(({ id }: { id: string }) => id))
  for (const id of progress.keys()) if (!left.has(id)) progress.delete(id)
}

/**
 * One portion of a move. To discard a group, one scan of the index parks its jobs, which are then
 * deleted by their group. Returns whether the move is done.
 */
export async function movePortion(
  db: Db,
  move: JobMove,
  worker: Pick<Worker, 'recordDiscarded' | 'recordLost'>,
  retry: RetrySettings,
  progress: Progress,
): Promise<boolean> {
  const { queue, group } = move
  if (move.kind !== 'discard') return moveDeadLetters(db, move, worker, retry)
  const position = progress.has(move.id) ? progress.get(move.id) : SCAN_START
  if (position) {
    const { next } = await parkWaiting(
      db,
      queue,
      { groups: [group], includesNotDue: true },
      position,
    )
    progress.set(move.id, next)
    return false
  }
  const jobs = await discardParked(db, queue, group, PORTION)
  await worker.recordDiscarded?.(db, jobs)
  if (jobs.length === PORTION) return false
  // Those of attempts that ended while the transaction that discarded the group was open.
  const { count } = await deleteDeadLetters(db, queue, { group }, PORTION)
  if (count === PORTION) return false
  progress.delete(move.id)
  // The row of the group stays while another process may be parking jobs of it.
  await setHeld(db, queue, group, false)
  return true
}

/** Letters that were locked as a portion passed them are looked for once more, from the beginning. */
async function moveDeadLetters(
  db: Db,
  move: JobMove,
  worker: Pick<Worker, 'recordLost'>,
  retry: RetrySettings,
): Promise<boolean> {
  const { count, lastId } = await deadLettersMoved(db, move, worker, retry)
  if (count < PORTION && move.afterId === null) return true
  await setPosition(db, move, count < PORTION ? null : lastId)
  return false
}

async function deadLettersMoved(
  db: Db,
  { kind, queue, group, beforeId, afterId, createdAt }: JobMove,
  worker: Pick<Worker, 'recordLost'>,
  retry: RetrySettings,
): Promise<Moved> {
  const selection = {
    group,
    ...(beforeId === null ? {} : { beforeId }),
    ...(afterId === null ? {} : { afterId }),
  }
  if (kind === 'bury') return deleteDeadLetters(db, queue, selection, PORTION)
  await recordParked(db, queue, [group])
  const reserved = { ...selection, reservedBefore: createdAt }
  return redriveDeadLetters(db, queue, reserved, retry, PORTION, worker)
}
