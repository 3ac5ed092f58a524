/** The table of work on many jobs of one group, and a portion of each kind of it. */
import type { Db } from '../../postgres/transaction.ts'
import { buryLetters, redriveLetters, type RetrySettings } from '../pg-boss/dead-letters.ts'
import { noteParked, setHeld } from './groups-table.ts'
import { discardParked, parkWaiting, WALK_BEGINS, type Place } from '../pg-boss/parked-jobs.ts'
import type { Worker } from '../worker.ts'

export interface JobMove {
  id: string
  queue: string
  group: string
  kind: 'discard' | 'redrive' | 'bury'
  /** For dead letters: those with a smaller id. */
  beforeId: string | null
}

/** Rows that one transaction moves: its locks and its memory stay small. */
const PORTION = 1000

export async function insertMove(
  db: Db,
  queue: string,
  group: string,
  kind: JobMove['kind'],
): Promise<void> {
  await db.query(
    `insert into svc."__svc.job_moves" (queue, group_id, kind, before_id)
     values ($1, $2, $3::text,
       -- Of the next millisecond: letters of this one are meant too.
       case when $3::text <> 'discard' then svc."__svc.first_uuid"(now() + interval '1 millisecond') end)`,
    [queue, group, kind],
  )
}

/**
 * A move of these queues that no other process is at, locked until the transaction ends: the one
 * that follows `after`, so that they take turns.
 */
export async function lockMove(
  db: Db,
  queues: string[],
  after: string,
): Promise<JobMove | undefined> {
  const { rows } = await db.query(
    `select id::text, queue, group_id as "group", kind, before_id as "beforeId"
       from svc."__svc.job_moves"
      where queue = any($1::text[])
      order by id <= $2::bigint, id limit 1 for update skip locked`,
    [queues, after],
  )
  return rows[0]
}

export async function deleteMove(db: Db, { id }: JobMove): Promise<void> {
  await db.query(`delete from svc."__svc.job_moves" where id = $1`, [id])
}

/** How far a move has come that needs several passes. */
export type Progress = Map<string, Place | null>

/**
 * One portion of a move. What waits is parked first, by one walk along the index, and deleted by
 * its group then. Returns whether the move is done.
 */
export async function movePortion(
  db: Db,
  move: JobMove,
  worker: Pick<Worker, 'recordDiscarded'>,
  retry: RetrySettings,
  progress: Progress,
): Promise<boolean> {
  const { queue, group, beforeId } = move
  const letters = { group, ...(beforeId === null ? {} : { beforeId }) }
  if (move.kind === 'bury') return (await buryLetters(db, queue, letters, PORTION)) < PORTION
  if (move.kind === 'redrive') {
    await noteParked(db, queue, [group])
    return (await redriveLetters(db, queue, letters, retry, PORTION)) < PORTION
  }
  const place = progress.has(move.id) ? progress.get(move.id) : WALK_BEGINS
  if (place) {
    const { next } = await parkWaiting(db, queue, { groups: [group], andNotDue: true }, place)
    progress.set(move.id, next)
    return false
  }
  const jobs = await discardParked(db, queue, group, PORTION)
  await worker.recordDiscarded?.(db, jobs)
  if (jobs.length === PORTION) return false
  progress.delete(move.id)
  // The row stays until nothing of the group is parked: another process may be parking just now.
  await setHeld(db, queue, group, false)
  return true
}
