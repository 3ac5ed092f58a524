/** One portion of a recovery, in a transaction. */
import type { Db } from '../../postgres/transaction.ts'
import type { RetrySettings } from '../retry-settings.ts'
import { redriveDeadLetters } from '../pg-boss/redrive-dead-letters.ts'
import { SCAN_START } from '../pg-boss/park-jobs.ts'
import { countDeadLetters } from '../pg-boss/dead-letters.ts'
import { countWaitingRetries, makeRetriesDue } from '../pg-boss/make-retries-due.ts'
import type { Worker } from '../worker.ts'
import { recordParked } from '../pg-boss/groups-table.ts'
import {
  recordPortion,
  setCounted,
  type RecoveredPortion,
  type Recovery,
} from './recoveries-table.ts'

/** Rows that one transaction moves, so that its locks are few and short. */
const PORTION = 500
/** A recovery with a pace of its own has so many portions a second: a receiver gets no second's worth at once. */
const PORTIONS_PER_SECOND = 4

type RecoveryWorker = Pick<Worker, 'recoverMissing' | 'recordLost'>

/** Returns the recovery as it is then. */
export async function recoverPortion(
  db: Db,
  recovery: Recovery,
  worker: RecoveryWorker,
  retry: RetrySettings,
): Promise<Recovery> {
  const limit = portionOf(recovery)
  const portion =
    recovery.deliveries === null && recovery.what !== 'missing'
      ? await counted(db, recovery)
      : await recovered(db, recovery, worker, retry, limit)
  return recordPortion(db, recovery, portion)
}

/** The call that began it has not counted all. */
async function counted(db: Db, recovery: Recovery): Promise<RecoveredPortion> {
  const { id, queue, group, what, since, until, createdAt: reservedBefore } = recovery
  const deliveries =
    what === 'dead'
      ? await countDeadLetters(db, queue, { groups: [group], since, until, reservedBefore })
      : await countWaitingRetries(db, queue, { group, since, until, recovery: id })
  await setCounted(db, id, deliveries)
  return { done: 0, isFinished: deliveries === 0 }
}

const portionOf = ({ perSecond }: Recovery): number =>
  perSecond === null ? PORTION : Math.min(PORTION, Math.ceil(perSecond / PORTIONS_PER_SECOND))

async function recovered(
  db: Db,
  recovery: Recovery,
  worker: RecoveryWorker,
  retry: RetrySettings,
  limit: number,
): Promise<RecoveredPortion> {
  const { what } = recovery
  if (what === 'missing') {
    const nothing = { done: 0, isFinished: true }
    return (await worker.recoverMissing?.(db, recovery, limit)) ?? nothing
  }
  if (what === 'failed') return retriesDue(db, recovery, limit)
  return redriven(db, recovery, worker, retry, limit)
}

async function retriesDue(db: Db, recovery: Recovery, limit: number): Promise<RecoveredPortion> {
  const { queue, group, since, until, position } = recovery
  const scan = position && 'scan' in position ? position.scan : SCAN_START
  const failed = { group, since, until, recovery: recovery.id }
  const { done, next, isFinished } = await makeRetriesDue(db, queue, failed, scan, limit)
  return { done, isFinished, position: { scan: next } }
}

async function redriven(
  db: Db,
  recovery: Recovery,
  worker: RecoveryWorker,
  retry: RetrySettings,
  limit: number,
): Promise<RecoveredPortion> {
  const { queue, group, since, until, createdAt: reservedBefore, deliveries, position } = recovery
  // Not one more than were counted: another dead letter of the span may have become visible since.
  const left = (deliveries ?? 0) - recovery.done
  const most = Math.min(limit, left)
  await recordParked(db, queue, [group])
  const after = position && 'afterId' in position ? position : {}
  const selection = { group, since, until, reservedBefore, ...after }
  const { count, lastId } = await redriveDeadLetters(db, queue, selection, retry, most, worker)
  if (count === most) {
    const next = lastId === null ? null : { afterId: lastId }
    return { done: count, isFinished: count === left, position: next }
  }
  // Letters that were locked as a portion passed them are looked for once more, from the beginning.
  return { done: count, isFinished: position === null }
}
