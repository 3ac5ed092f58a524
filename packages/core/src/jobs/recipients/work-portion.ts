/** One portion of the work on the jobs of a recipient, in a transaction. */
import type { Db } from '../../postgres/transaction.ts'
import { countDeadLetters, deleteDeadLetters } from '../pg-boss/dead-letters.ts'
import { setHeld } from '../pg-boss/recipient-states-table.ts'
import { countWaitingRetries, makeRetriesDue } from '../pg-boss/make-retries-due.ts'
import { redriveDeadLetters } from '../pg-boss/redrive-dead-letters.ts'
import { discardWaiting, makeWaitingDue } from '../pg-boss/waiting-jobs.ts'
import type { RetrySettings } from '../retry-settings.ts'
import type { Worker } from '../worker.ts'
import {
  recordPortion,
  setCounted,
  type RecoveredPortion,
  type Recovery,
  type Work,
} from './work-table.ts'

/** Rows that one transaction changes, so that its locks are few and short. */
const PORTION = 500
/** A recovery with a pace of its own has so many portions a second: a receiver gets no second's worth at once. */
const PORTIONS_PER_SECOND = 4

/** Of the queue: it writes the rows that belong to what is changed. */
type Recorder = Pick<Worker, 'recovery'>

/** Returns the work as it is then. */
export async function workPortion(
  db: Db,
  work: Work,
  worker: Recorder,
  retry: RetrySettings,
): Promise<Work> {
  return recordPortion(db, work, await portionOf(db, work, worker, retry))
}

function portionOf(
  db: Db,
  work: Work,
  worker: Recorder,
  retry: RetrySettings,
): Promise<RecoveredPortion> {
  const { what } = work
  if (what === 'discard') return discarded(db, work, worker)
  if (what === 'due') return madeDue(makeWaitingDue(db, work.queue, work.recipient, work.until))
  if (what === 'missing') return missing(db, { ...work, what }, worker)
  if (what !== 'redrive' && work.deliveries === null) return counted(db, work)
  return what === 'failed' ? madeDue(retriesDue(db, work)) : redriven(db, work, retry)
}

const limitOf = ({ perSecond }: Work): number =>
  perSecond === null ? PORTION : Math.min(PORTION, Math.ceil(perSecond / PORTIONS_PER_SECOND))

/** The call that began it has not counted all. */
async function counted(db: Db, work: Work): Promise<RecoveredPortion> {
  const { id, queue, recipient, what, since, until, createdAt: reservedBefore } = work
  const deliveries =
    what === 'dead'
      ? await countDeadLetters(db, queue, {
          recipients: [recipient],
          since,
          until,
          reservedBefore,
          withoutTests: true,
        })
      : await countWaitingRetries(db, queue, { recipient, since, until, recovery: id })
  await setCounted(db, id, deliveries)
  return { done: 0, isFinished: deliveries === 0 }
}

async function missing(
  db: Db,
  recovery: Recovery,
  { recovery: its }: Recorder,
): Promise<RecoveredPortion> {
  const nothing = { done: 0, isFinished: true }
  return (await its?.recoverMissed(db, recovery, limitOf(recovery))) ?? nothing
}

function retriesDue(db: Db, work: Work): Promise<RecoveredPortion> {
  const { queue, recipient, since, until } = work
  return makeRetriesDue(db, queue, { recipient, since, until, recovery: work.id }, limitOf(work))
}

async function madeDue(making: Promise<RecoveredPortion>): Promise<RecoveredPortion> {
  const portion = await making
  // All that are left are locked by others.
  return { ...portion, waitSeconds: portion.done === 0 ? 1 : 0 }
}

async function discarded(db: Db, work: Work, { recovery }: Recorder): Promise<RecoveredPortion> {
  const { queue, recipient } = work
  const jobs = await discardWaiting(db, queue, recipient, PORTION)
  await recovery?.recordDiscarded(db, jobs)
  // Also those of attempts that ended while the transaction that discarded the recipient was open.
  const letters =
    jobs.length < PORTION ? await deleteDeadLetters(db, queue, recipient, PORTION) : null
  // A portion that finds nothing is the last one: what was locked as one passed it is looked for once more.
  const isFinished = jobs.length === 0 && letters === 0
  // The row of the recipient stays for a while: another process may be putting jobs of it aside.
  if (isFinished) await setHeld(db, queue, [recipient], false)
  return { done: jobs.length, isFinished }
}

async function redriven(db: Db, work: Work, retry: RetrySettings): Promise<RecoveredPortion> {
  const { queue, recipient, since, until, createdAt: reservedBefore, deliveries, done } = work
  // Not one more than were counted: another dead letter of the span may have become visible since.
  const left = deliveries === null ? Infinity : deliveries - done
  const most = Math.min(limitOf(work), left)
  const withoutTests = work.what === 'dead'
  const selection = { recipient, since, until, reservedBefore, withoutTests, ...afterOf(work) }
  const { count, lastId } = await redriveDeadLetters(db, queue, selection, retry, most)
  if (count === left) return { done: left, isFinished: true }
  const position = count === most && lastId !== null ? { afterId: lastId } : null
  // Letters that were locked as a portion passed them are looked for once more, from the beginning.
  return { done: count, isFinished: count < most && work.position === null, position }
}

const afterOf = ({ position }: Work): { afterId?: string } =>
  position && 'afterId' in position ? position : {}
