/** One portion of a recovery, in a transaction. */
import type { Db } from '../../postgres/transaction.ts'
import type { RetrySettings } from '../retry-settings.ts'
import { redriveDeadLetters } from '../pg-boss/redrive-dead-letters.ts'
import { makeRetriesDue } from '../pg-boss/waiting-retries.ts'
import type { Worker } from '../worker.ts'
import { recordParked } from '../groups-table.ts'
import { recordPortion, type RecoveredPortion, type Recovery } from './recoveries-table.ts'

/** Rows that one transaction moves, so that its locks are few and short. */
const PORTION = 1000

/** Returns the recovery as it is then. */
export async function recoverPortion(
  db: Db,
  recovery: Recovery,
  worker: Pick<Worker, 'recoverMissing'>,
  retry: RetrySettings,
): Promise<Recovery> {
  const limit = Math.min(PORTION, recovery.perSecond ?? PORTION)
  return recordPortion(db, recovery, await recovered(db, recovery, worker, retry, limit))
}

async function recovered(
  db: Db,
  recovery: Recovery,
  worker: Pick<Worker, 'recoverMissing'>,
  retry: RetrySettings,
  limit: number,
): Promise<RecoveredPortion> {
  const { queue, group, what, deliveries, since, until } = recovery
  if (what === 'missing') {
    const nothing = { done: 0, isFinished: true }
    return (await worker.recoverMissing?.(db, recovery, limit)) ?? nothing
  }
  if (what === 'failed') {
    const done = await makeRetriesDue(db, queue, { group, since, until }, limit)
    return { done, isFinished: done < limit }
  }
  // Not one more than were counted: another dead letter of the span may have become visible since.
  const left = (deliveries ?? 0) - recovery.done
  const most = Math.min(limit, left)
  await recordParked(db, queue, [group])
  const selection = { group, since, until, reservedBefore: recovery.createdAt }
  const done = await redriveDeadLetters(db, queue, selection, retry, most)
  return { done, isFinished: done < most || done === left }
}
