/** The state of one group, as group-states.ts keeps it. */
import type { JobGroup } from '../pg-boss/groups-table.ts'

export interface State {
  row: JobGroup
  /** Whether all its waiting jobs have been parked since it was held. */
  isParked: boolean
  /** The last claim found too few due jobs of it: no claim before this moment. */
  emptyUntil: number
  emptyForMs: number
  /** How long the next claim waits where others have locked its due jobs again. */
  lockedForMs: number
  /** The last claim found that it has as many attempts under way as it may. */
  isBusy: boolean
  /** A claim is under way, and the group has had no notification since its start. */
  isClaiming: boolean
}

export function stateOf(row: JobGroup, before: State | undefined): State {
  const isParked = row.held && before?.row.held === true && before.isParked
  // After a change there may be jobs to claim.
  const { emptyUntil, emptyForMs, lockedForMs, isBusy } =
    before && isSame(row, before.row) ? before : READY
  return { row, isParked, emptyUntil, emptyForMs, lockedForMs, isBusy, isClaiming: false }
}

const isSame = (one: JobGroup, other: JobGroup): boolean =>
  one.held === other.held &&
  one.circuitOpen === other.circuitOpen &&
  one.parkedAt === other.parkedAt &&
  one.unparkedSince === other.unparkedSince

export const FIRST_PAUSE_MS = 500
export const FIRST_LOCKED_MS = 20
export const READY = {
  emptyUntil: 0,
  emptyForMs: FIRST_PAUSE_MS,
  lockedForMs: FIRST_LOCKED_MS,
  isBusy: false,
  isClaiming: false,
}

export const isToPark = ({ row: { held, unparkedSince }, isParked }: State): boolean =>
  unparkedSince !== null || (held && !isParked)
