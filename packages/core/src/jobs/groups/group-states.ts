/**
 * The state of the groups as this process last read it: which groups are held or restricted, whose circuit is
 * open, and where their jobs wait. Pure book-keeping.
 */
import type { GroupClaimResult } from '../pg-boss/claim-ordered-or-limited.ts'
import type { JobGroup } from '../pg-boss/groups-table.ts'

interface State {
  row: JobGroup
  /** Whether all its waiting jobs have been put aside since its row changed. */
  isAside: boolean
  /** The last claim found too few due jobs of it: no claim before this moment. */
  emptyUntil: number
  emptyForMs: number
  /** How long the next claim waits where others have locked its due jobs again. */
  lockedForMs: number
  /** The last claim found that it has as many attempts under way as it may. */
  isBusy: boolean
  /** A claim is under way, and the group has had no notification since its start. */
  isClaiming: boolean
  /** Of an ordered group: its one attempt is made here ... */
  isRunning: boolean
  /** ... and others wait behind it. */
  hasNext: boolean
}

function stateOf(row: JobGroup, before: State | undefined): State {
  // After a change there may be jobs to move, and to claim.
  const isSame = before?.row.changedBy === row.changedBy
  const { emptyUntil, emptyForMs, lockedForMs, isBusy, isAside } = isSame ? before : NEW
  const isRunning = row.ordered && before?.isRunning === true
  const hasNext = !isSame || before.hasNext
  const pauses = { emptyUntil, emptyForMs, lockedForMs, isBusy }
  return { row, isAside, ...pauses, isClaiming: false, isRunning, hasNext }
}

const FIRST_PAUSE_MS = 500
const FIRST_LOCKED_MS = 20
const READY = {
  emptyUntil: 0,
  emptyForMs: FIRST_PAUSE_MS,
  lockedForMs: FIRST_LOCKED_MS,
  isBusy: false,
  isClaiming: false,
}

const NEW = { ...READY, isAside: false }

const belongsAside = ({ row: { held, circuitOpen, restricted } }: State): boolean =>
  held || circuitOpen || restricted

const isClaimable = ({ row: { held, circuitOpen, restricted } }: State): boolean =>
  !held && (circuitOpen || restricted)

const LONGEST_PAUSE_MS = 8000
/** With an open circuit the next attempt shows whether the receiver works again. */
const LONGEST_PAUSE_OPEN_MS = 1000
/** Attempts of the group run in other processes, and their ends are not notified. */
const LONGEST_PAUSE_BUSY_MS = 1000
/** Of a restricted group, where notifications of new jobs do not come. */
const LONGEST_PAUSE_UNNOTIFIED_MS = 500
/**
 * Pauses end at multiples of this, or a little before: one statement claims from many groups, and looks
 * at those that are idle together.
 */
const PAUSES_END_AT_MS = FIRST_PAUSE_MS

export interface ClaimableGroup {
  group: string
  isOpen: boolean
  isRestricted: boolean
  /** Attempts at a time over all processes, where that is restricted. */
  maxInFlight: number | null
}

export class GroupStates {
  #states = new Map<string, State>()
  /** Those whose jobs that wait aside are claimed, in the order of their turns. */
  #turns = new Map<string, State>()
  /** Groups whose jobs belong aside, and may wait in the lanes. */
  #inLanes = new Set<string>()
  /** Groups whose jobs come back into the lanes. */
  #back = new Set<string>()
  #ordered = new Set<string>()
  #open = new Set<string>()

  /** Applies the rows of the table, or those that have changed. Groups that were in it before keep their turn. */
  apply(rows: JobGroup[], areAll: boolean): void {
    for (const row of rows) {
      const state = stateOf(row, this.#states.get(row.group))
      this.#states.set(row.group, state)
      if (row.ordered) this.#ordered.add(row.group)
      else this.#ordered.delete(row.group)
      if (row.circuitOpen) this.#open.add(row.group)
      else this.#open.delete(row.group)
      if (belongsAside(state) && !state.isAside) this.#inLanes.add(row.group)
      else this.#inLanes.delete(row.group)
      if (belongsAside(state)) this.#back.delete(row.group)
      else this.#back.add(row.group)
      if (isClaimable(state)) this.#turns.set(row.group, state)
      else this.#turns.delete(row.group)
    }
    if (!areAll) return
    const those = new Set(rows.map(({ group }) => group))
    this.forget([...this.#states.keys()].filter((group) => !those.has(group)))
  }

  /** These groups have no row any more. */
  forget(groups: readonly string[]): void {
    for (const group of groups) {
      this.#states.delete(group)
      this.#ordered.delete(group)
      this.#open.delete(group)
      this.#inLanes.delete(group)
      this.#back.delete(group)
      this.#turns.delete(group)
    }
  }

  get size(): number {
    return this.#states.size
  }

  isRestricted(group: string): boolean {
    return this.#states.get(group)?.row.restricted ?? false
  }

  /** Whether there are ordered groups. */
  get haveOrder(): boolean {
    return this.#ordered.size > 0
  }

  /** For how long an attempt of the group counts, with the time that a request may be on its way. */
  spanMsOf(group: string): number {
    const spanMs = 1000 * (this.#states.get(group)?.row.rateSeconds ?? 0)
    return spanMs + Math.min(spanMs / 2, 1000)
  }

  /** Groups whose jobs belong aside, and may wait in the lanes. */
  get inLanes(): ReadonlySet<string> {
    return this.#inLanes
  }

  /** All waiting jobs of these groups have been put aside. */
  areAside(groups: readonly string[]): void {
    for (const group of groups) {
      const state = this.#states.get(group)
      if (state && this.#inLanes.delete(group)) state.isAside = true
    }
  }

  /** Groups whose jobs come back into the lanes. */
  get back(): ReadonlySet<string> {
    return this.#back
  }

  /** Groups whose circuit is open by the table. */
  get open(): ReadonlySet<string> {
    return this.#open
  }

  belongsAside(group: string): boolean {
    const state = this.#states.get(group)
    return state !== undefined && belongsAside(state)
  }

  /** Groups whose jobs that wait aside may be claimed, in their turn. */
  claimable(now: number): ClaimableGroup[] {
    return [...this.#turns.values()]
      .filter(({ emptyUntil, isRunning }) => emptyUntil <= now && !isRunning)
      .map(({ row: { group, circuitOpen, restricted, maxInFlight } }) => ({
        group,
        isOpen: circuitOpen,
        isRestricted: restricted,
        maxInFlight,
      }))
  }

  /** The first moment at which there may be jobs aside to claim. */
  claimableFrom(): number {
    let first = Infinity
    for (const { emptyUntil, isRunning } of this.#turns.values()) {
      if (!isRunning) first = Math.min(first, emptyUntil)
    }
    return first
  }

  /** A job of this restricted group was claimed here: until its attempt has ended, none of an order follows. */
  began(group: string): void {
    const state = this.#states.get(group)
    if (state?.row.ordered) state.isRunning = true
  }

  /** Whether an attempt of this ordered group is under way here. */
  isRunning(group: string): boolean {
    return this.#states.get(group)?.isRunning === true
  }

  /** An attempt of this restricted group is done. Returns whether another job of it may wait. */
  done(group: string): boolean {
    const state = this.#states.get(group)
    if (!state) return false
    const hasNext = !state.row.ordered || state.hasNext
    if (hasNext) this.ready([group])
    Object.assign(state, { isRunning: false, isBusy: false, hasNext: false })
    return hasNext
  }

  /** There may be jobs of these restricted groups to claim. */
  ready(groups: readonly string[]): void {
    for (const group of groups) {
      const state = this.#states.get(group)
      if (state) Object.assign(state, READY, { isRunning: false })
    }
  }

  /**
   * These groups have new jobs to claim. Those of an ordered group with an attempt under way are for
   * the process that makes it. Returns whether all groups are known.
   */
  haveNew(groups: readonly string[]): boolean {
    for (const group of groups) {
      const state = this.#states.get(group)
      if (state) state.hasNext = true
      if (state?.row.ordered && (state.isBusy || state.isRunning)) state.isClaiming = false
      else if (state) Object.assign(state, READY)
    }
    return groups.every((group) => this.#states.has(group))
  }

  /** There may be jobs of any restricted group to claim. */
  allReady(): void {
    for (const state of this.#turns.values()) {
      if (state.row.restricted) Object.assign(state, READY, { hasNext: true })
    }
  }

  /** There may be jobs of a restricted group from then on. Returns whether that is sooner than known. */
  readyFrom(group: string, at: number): boolean {
    const state = this.#states.get(group)
    if (!state || state.emptyUntil <= at) return false
    state.emptyUntil = at
    return true
  }

  /** A claim of these restricted groups begins. */
  claimBegins(groups: readonly string[]): void {
    for (const group of groups) {
      const state = this.#states.get(group)
      if (state) state.isClaiming = true
    }
  }

  /**
   * The result of a claim for one restricted group. It is ignored where a notification came during
   * the claim, which may be newer. `isNotified`: whether this process receives notifications of new
   * jobs. Returns whether it counts.
   */
  claimEnded(
    { group, isBusy, hasMore, waitMs }: GroupClaimResult,
    now: number,
    isNotified: boolean,
  ): boolean {
    const state = this.#states.get(group)
    if (!state?.isClaiming) return false
    state.isBusy = isBusy === true
    state.hasNext = hasMore === true
    const longest = isBusy
      ? LONGEST_PAUSE_BUSY_MS
      : isNotified
        ? LONGEST_PAUSE_MS
        : LONGEST_PAUSE_UNNOTIFIED_MS
    const isWithTime = typeof waitMs === 'number'
    if (hasMore && !isBusy && !isWithTime) {
      Object.assign(state, READY)
    } else if (isWithTime && waitMs <= longest) {
      state.emptyUntil = now + Math.max(state.lockedForMs, waitMs)
      // Jobs that are due were locked by others, perhaps for long.
      const isLocked = waitMs < FIRST_LOCKED_MS
      state.lockedForMs = isLocked
        ? Math.min(FIRST_PAUSE_MS, state.lockedForMs * 2)
        : FIRST_LOCKED_MS
      state.emptyForMs = FIRST_PAUSE_MS
    } else {
      const pauseMs = isWithTime ? longest : Math.min(longest, state.emptyForMs)
      state.emptyUntil = endOfPause(now, pauseMs)
      state.emptyForMs = pauseMs * 2
    }
    return true
  }

  /** Jobs of the group that wait aside were claimed: its next turn is the last. */
  claimed(group: string): void {
    const state = this.#states.get(group)
    if (!state) return
    state.emptyForMs = FIRST_PAUSE_MS
    if (this.#turns.delete(group)) this.#turns.set(group, state)
  }

  /** Fewer jobs of a group with an open circuit were due than its limit. */
  empty(group: string, now: number): void {
    const state = this.#states.get(group)
    if (!state) return
    state.emptyUntil = endOfPause(now, state.emptyForMs)
    state.emptyForMs = Math.min(LONGEST_PAUSE_OPEN_MS, state.emptyForMs * 2)
  }
}

const endOfPause = (now: number, pauseMs: number): number =>
  Math.floor((now + pauseMs) / PAUSES_END_AT_MS) * PAUSES_END_AT_MS
