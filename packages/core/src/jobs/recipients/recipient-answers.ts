/**
 * Judges a group by its answers: whether it is quick or has stopped answering, and when its circuit
 * opens. An answer is the end of an attempt.
 */
import type { Outcome } from '../worker.ts'

export interface Recipient {
  inFlight: number
  failuresInARow: number
  isOpen: boolean
  /** Mean time of its answers, in milliseconds; `undefined` before the first. */
  meanMs: number | undefined
  /** When one of its attempts ended last, or, without one, when its first in flight began. */
  lastProgressAt: number
}

/** The mean answer of a quick recipient takes less. */
const QUICK_MS = 50
/** A recipient that gives no answer for this many times its mean has stopped answering. */
const SILENT_AFTER_MEANS = 4
const FAILURES_TO_OPEN = 10
/** A failure that took this long counts as several, because other jobs waited for its slot. */
const LONG_FAILURE_MS = 1000
const LONG_FAILURE_COUNTS = 5
const WEIGHT_OF_ONE = 0.1

export const newAnswers = (): Recipient => ({
  inFlight: 0,
  failuresInARow: 0,
  isOpen: false,
  meanMs: undefined,
  lastProgressAt: 0,
})

export function judge(recipient: Recipient, succeeded: boolean, tookMs: number): void {
  recipient.failuresInARow = succeeded ? 0 : recipient.failuresInARow + weightOf(recipient, tookMs)
  if (succeeded) {
    recipient.meanMs ??= tookMs
    recipient.meanMs += (tookMs - recipient.meanMs) * WEIGHT_OF_ONE
    recipient.isOpen = false
  } else if (recipient.failuresInARow >= FAILURES_TO_OPEN) recipient.isOpen = true
}

/** The circuit of a recipient that has never answered opens at its first long failure. */
function weightOf({ meanMs }: Recipient, tookMs: number): number {
  if (tookMs < LONG_FAILURE_MS) return 1
  return meanMs === undefined ? FAILURES_TO_OPEN : LONG_FAILURE_COUNTS
}

export const isQuick = ({ meanMs, lastProgressAt }: Recipient, now: number): boolean =>
  meanMs !== undefined && meanMs < QUICK_MS && now - lastProgressAt < QUICK_MS

export const isSilent = ({ lastProgressAt }: Recipient, meanMs: number, now: number): boolean =>
  now - lastProgressAt > Math.max(QUICK_MS, SILENT_AFTER_MEANS * meanMs)

/** Whether the receiver has answered well; `null`: the outcome is no evidence about it. */
export function successOf(outcome: Outcome): boolean | null {
  if (outcome.kind === 'completed') return true
  return outcome.kind === 'failed' || outcome.kind === 'rejected' ? false : null
}
