/** How many jobs that wait aside one statement claims, and of which recipients: pure. */
import type { Job, Lane } from '../job.ts'
import type { RecipientLimits } from './recipient-limits.ts'
import type { ClaimableRecipient, RecipientStates } from './recipient-states.ts'

export interface ClaimLimit {
  recipient: string
  limit: number
  isRestricted: boolean
}

/** Recipients that one statement claims jobs of. */
const RECIPIENTS_PER_CLAIM = 50

/**
 * Recipients with an open circuit have at most half of the retry lane together, and the others have the
 * rest: neither kind can block the other.
 */
export function claimLimits(
  states: RecipientStates,
  recipientLimits: RecipientLimits,
  windows: Record<Lane, number>,
  room: Record<Lane, number>,
  now: number,
): ClaimLimit[] {
  const claimable = states.claimable(now)
  const open = claimable.filter(({ isOpen }) => isOpen)
  const closed = claimable.filter(({ isOpen }) => !isOpen)
  const limits: ClaimLimit[] = []
  let left = room.retry + room.first
  const add = (
    { recipient, isRestricted, maxInFlight }: ClaimableRecipient,
    cap: number,
    most: number,
  ) => {
    const inFlight = recipientLimits.inFlightOf(recipient)
    const limit = Math.min(most, Math.min(cap, maxInFlight ?? cap) - inFlight)
    if (limit < 1 || limits.length >= RECIPIENTS_PER_CLAIM) return 0
    limits.push({ recipient, limit, isRestricted })
    left -= limit
    return limit
  }
  const halfOfLane = Math.max(1, Math.floor(windows.retry / 2))
  let openLeft = Math.min(halfOfLane - recipientLimits.openInFlight(), room.retry)
  // If there is only one slot, recipients whose receivers answer come first.
  if (closed.length > 0 && openLeft === left) openLeft--
  const most = Math.max(1, Math.floor(windows.retry / 8))
  const each = Math.max(1, Math.min(most, Math.floor(halfOfLane / Math.max(1, open.length))))
  for (const recipient of open) {
    if (openLeft < 1) break
    openLeft -= add(recipient, each, openLeft)
  }
  const lane = room.first > 0 ? 'first' : 'retry'
  for (const recipient of closed) {
    add(recipient, recipientLimits.capOf(recipient.recipient, lane, now, closed.length === 1), left)
  }
  return limits
}

/** The recipients of which a claim has brought fewer jobs than it might. */
export function belowLimit(limits: readonly ClaimLimit[], jobs: readonly Job[]): string[] {
  const counts = countsOf(jobs)
  return limits.flatMap(({ recipient, limit }) =>
    (counts.get(recipient) ?? 0) < limit ? [recipient] : [],
  )
}

export function countsOf(jobs: readonly Job[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { recipient } of jobs)
    if (recipient !== null) counts.set(recipient, (counts.get(recipient) ?? 0) + 1)
  return counts
}
