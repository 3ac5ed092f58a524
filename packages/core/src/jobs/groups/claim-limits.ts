/** How many jobs that wait aside one statement claims, and of which groups: pure. */
import type { Job, Lane } from '../job.ts'
import type { GroupLimits } from './group-limits.ts'
import type { ClaimableGroup, GroupStates } from './group-states.ts'

export interface ClaimLimit {
  group: string
  limit: number
  isRestricted: boolean
}

/** Groups that one statement claims jobs of. */
const GROUPS_PER_CLAIM = 50

/**
 * Groups with an open circuit have at most half of the retry lane together, and the others have the
 * rest: neither kind can block the other.
 */
export function claimLimits(
  states: GroupStates,
  groupLimits: GroupLimits,
  windows: Record<Lane, number>,
  room: Record<Lane, number>,
  now: number,
): ClaimLimit[] {
  const claimable = states.claimable(now)
  const open = claimable.filter(({ isOpen }) => isOpen)
  const closed = claimable.filter(({ isOpen }) => !isOpen)
  const limits: ClaimLimit[] = []
  let left = room.retry + room.first
  const add = ({ group, isRestricted, maxInFlight }: ClaimableGroup, cap: number, most: number) => {
    const inFlight = groupLimits.inFlightOf(group)
    const limit = Math.min(most, Math.min(cap, maxInFlight ?? cap) - inFlight)
    if (limit < 1 || limits.length >= GROUPS_PER_CLAIM) return 0
    limits.push({ group, limit, isRestricted })
    left -= limit
    return limit
  }
  const halfOfLane = Math.max(1, Math.floor(windows.retry / 2))
  let openLeft = Math.min(halfOfLane - groupLimits.openInFlight(), room.retry)
  // If there is only one slot, groups whose receivers answer come first.
  if (closed.length > 0 && openLeft === left) openLeft--
  const most = Math.max(1, Math.floor(windows.retry / 8))
  const each = Math.max(1, Math.min(most, Math.floor(halfOfLane / Math.max(1, open.length))))
  for (const group of open) {
    if (openLeft < 1) break
    openLeft -= add(group, each, openLeft)
  }
  const lane = room.first > 0 ? 'first' : 'retry'
  for (const group of closed) {
    add(group, groupLimits.capOf(group.group, lane, now, closed.length === 1), left)
  }
  return limits
}

/** The groups of which a claim has brought fewer jobs than it might. */
export function belowLimit(limits: readonly ClaimLimit[], jobs: readonly Job[]): string[] {
  const counts = countsOf(jobs)
  return limits.flatMap(({ group, limit }) => ((counts.get(group) ?? 0) < limit ? [group] : []))
}

/** How many of these jobs each group has. */
export function countsOf(jobs: readonly Job[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { group } of jobs) if (group !== null) counts.set(group, (counts.get(group) ?? 0) + 1)
  return counts
}
