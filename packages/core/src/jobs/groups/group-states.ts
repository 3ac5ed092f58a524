/**
 * The state of the groups as this process last read it: which groups are held, whose circuit is
 * open, and which may have parked jobs. Pure book-keeping.
 */
import type { GroupClaimResult } from '../pg-boss/claim-ordered-or-limited.ts'
import type { ExcludedGroups } from '../pg-boss/fetch-due-jobs.ts'
import type { JobGroup } from '../pg-boss/groups-table.ts'

interface State {
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

function stateOf(row: JobGroup, before: State | undefined): State {
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

const FIRST_PAUSE_MS = 500
const FIRST_LOCKED_MS = 20
const READY = {
  emptyUntil: 0,
  emptyForMs: FIRST_PAUSE_MS,
  lockedForMs: FIRST_LOCKED_MS,
  isBusy: false,
  isClaiming: false,
}

const isToPark = ({ row: { held, unparkedSince }, isParked }: State): boolean =>
  unparkedSince !== null || (held && !isParked)

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

/** A fetch reads the list of groups anew for each job that it passes, and the table by its key. */
const MOST_OPEN_NAMED = 200

export class GroupStates {
  #states = new Map<string, State>()
  #excluded: ExcludedGroups | undefined
  /** Ordered groups whose next job is claimed by the settlement of the one before it. */
  #awaitingNext = new Set<string>()

  /** Applies the rows of the table. Groups that were in it before keep their turn. */
  replace(rows: JobGroup[]): void {
    const known = this.#states
    this.#excluded = undefined
    const rowOf = new Map(rows.map((row) => [row.group, row]))
    const order = [...known.keys(), ...rowOf.keys()]
    this.#states = new Map(
      order.flatMap((group) => {
        const row = rowOf.get(group)
        return row ? [[group, stateOf(row, known.get(group))]] : []
      }),
    )
  }

  get size(): number {
    return this.#states.size
  }

  isRestricted(group: string): boolean {
    return this.#states.get(group)?.row.restricted ?? false
  }

  isOrdered(group: string): boolean {
    return this.#states.get(group)?.row.ordered ?? false
  }

  /** For how long an attempt of the group counts, with the time that a request may be on its way. */
  spanMsOf(group: string): number {
    const spanMs = 1000 * (this.#states.get(group)?.row.rateSeconds ?? 0)
    return spanMs + Math.min(spanMs / 2, 1000)
  }

  /** Groups that fetches exclude: their jobs are to be parked. */
  excluded(): ExcludedGroups {
    return (this.#excluded ??= this.#findExcluded())
  }

  /** Held and restricted groups that may have jobs that are not parked. */
  toPark(): string[] {
    return this.#namesOf(isToPark)
  }

  parked(groups: readonly string[]): void {
    this.#excluded = undefined
    for (const group of groups) {
      const state = this.#states.get(group)
      if (state) state.isParked = true
    }
  }

  /**
   * Those of these groups whose jobs cannot be claimed until the table has all of them as parked.
   */
  unparked(groups: readonly string[]): { group: string; since: string }[] {
    return groups.flatMap((group) => {
      const since = this.#states.get(group)?.row.unparkedSince ?? null
      return since === null ? [] : [{ group, since }]
    })
  }

  /** Groups with an open circuit. A held one may get jobs back from attempts that were under way. */
  open(): string[] {
    return this.#namesOf(({ row }) => row.circuitOpen)
  }

  /** Groups whose parked jobs may be claimed, in their turn. */
  claimable(now: number): ClaimableGroup[] {
    return [...this.#states.values()]
      .filter((state) => this.#isClaimable(state) && state.emptyUntil <= now)
      .map(({ row: { group, circuitOpen, restricted, maxInFlight } }) => ({
        group,
        isOpen: circuitOpen,
        isRestricted: restricted,
        maxInFlight,
      }))
  }

  /** The first moment at which there may be parked jobs to claim. */
  claimableFrom(): number {
    let first = Infinity
    for (const state of this.#states.values()) {
      if (this.#isClaimable(state)) first = Math.min(first, state.emptyUntil)
    }
    return first
  }

  /** A settlement will claim the next job of this ordered group: until then no claim can bring one. */
  awaitNext(group: string): void {
    this.#awaitingNext.add(group)
  }

  isAwaitingNext(group: string): boolean {
    return this.#awaitingNext.has(group)
  }

  nextDecided(group: string): void {
    this.#awaitingNext.delete(group)
  }

  /** There may be jobs of these restricted groups to claim. */
  ready(groups: readonly string[]): void {
    for (const group of groups) {
      const state = this.#states.get(group)
      if (state) Object.assign(state, READY)
    }
  }

  /**
   * These groups have new jobs to claim. Those of an ordered group with an attempt under way are for
   * the process that makes it. Returns whether all groups are known.
   */
  haveNew(groups: readonly string[]): boolean {
    for (const group of groups) {
      const state = this.#states.get(group)
      if (state?.row.ordered && state.isBusy) state.isClaiming = false
      else if (state) Object.assign(state, READY)
    }
    return groups.every((group) => this.#states.has(group))
  }

  /** There may be jobs of any restricted group to claim. */
  allReady(): void {
    for (const state of this.#states.values()) if (state.row.restricted) Object.assign(state, READY)
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

  /** Parked jobs of the group were claimed: its next turn is the last. */
  claimed(group: string): void {
    const state = this.#states.get(group)
    if (!state) return
    state.emptyForMs = FIRST_PAUSE_MS
    this.#states.delete(group)
    this.#states.set(group, state)
  }

  /** Fewer jobs of the group were due than its limit. Returns whether that has been so for a while. */
  empty(group: string, now: number): boolean {
    const state = this.#states.get(group)
    if (!state) return false
    const hasBeenFor = state.emptyForMs
    state.emptyUntil = endOfPause(now, state.emptyForMs)
    const isOpen = state.row.circuitOpen
    const longest = isOpen ? LONGEST_PAUSE_OPEN_MS : LONGEST_PAUSE_MS
    state.emptyForMs = Math.min(longest, state.emptyForMs * 2)
    return !isOpen && hasBeenFor === LONGEST_PAUSE_MS
  }

  #findExcluded(): ExcludedGroups {
    const withOpenCircuits = this.open().length > MOST_OPEN_NAMED
    const groups = this.#namesOf(
      (state) => isToPark(state) || (state.row.circuitOpen && !withOpenCircuits),
    )
    return { groups, withOpenCircuits }
  }

  #isClaimable({ row: { group, held, unparkedSince } }: State): boolean {
    return !held && unparkedSince === null && !this.#awaitingNext.has(group)
  }

  #namesOf(is: (state: State) => boolean): string[] {
    return [...this.#states].filter(([, state]) => is(state)).map(([group]) => group)
  }
}

const endOfPause = (now: number, pauseMs: number): number =>
  Math.floor((now + pauseMs) / PAUSES_END_AT_MS) * PAUSES_END_AT_MS
