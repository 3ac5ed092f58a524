/**
 * The state of the recipients as this process last read it: which recipients are held or restricted, whose circuit is
 * open, and where their jobs wait. Pure book-keeping.
 */
import type { RecipientClaimResult } from '../pg-boss/claim-ordered-or-limited.ts'
import type { RecipientRow } from '../pg-boss/recipient-states-table.ts'

interface State {
  row: RecipientRow
  /** Whether all its waiting jobs have been put aside since its row changed. */
  isAside: boolean
  /** The last claim found too few due jobs of it: no claim before this moment. */
  emptyUntil: number
  emptyForMs: number
  /** The last claim found that it has as many attempts under way as it may. */
  isBusy: boolean
  /** A claim is under way, and the recipient has had no notification since its start. */
  isClaiming: boolean
  /** Of an ordered recipient: its one attempt is made here ... */
  isRunning: boolean
  /** ... and others wait behind it. */
  hasNext: boolean
}

function stateOf(row: RecipientRow, before: State | undefined): State {
  // After a change there may be jobs to move, and to claim.
  const isSame = before?.row.changedBy === row.changedBy
  const { emptyUntil, emptyForMs, isBusy, isAside } = isSame ? before : NEW
  const isRunning = row.ordered && before?.isRunning === true
  const hasNext = !isSame || before.hasNext
  return { row, isAside, emptyUntil, emptyForMs, isBusy, isClaiming: false, isRunning, hasNext }
}

const FIRST_PAUSE_MS = 500
/** The shortest pause before a time that a claim has named: others may have locked the jobs that are due. */
const SHORTEST_PAUSE_MS = 50
const READY = {
  emptyUntil: 0,
  emptyForMs: FIRST_PAUSE_MS,
  isBusy: false,
  isClaiming: false,
}

const NEW = { ...READY, isAside: false }

const belongsAside = ({ row: { held, circuitOpen, restricted } }: State): boolean =>
  held || circuitOpen || restricted

const isClaimable = ({ row: { held, circuitOpen, restricted } }: State): boolean =>
  !held && (circuitOpen || restricted)

function setMember(set: Set<string>, recipient: string, isIn: boolean): void {
  if (isIn) set.add(recipient)
  else set.delete(recipient)
}

const LONGEST_PAUSE_MS = 8000
/** With an open circuit the next attempt shows whether the receiver works again. */
const LONGEST_PAUSE_OPEN_MS = 1000
/** Attempts of the recipient run in other processes, and their ends are not notified. */
const LONGEST_PAUSE_BUSY_MS = 1000
/** Of a restricted recipient, where notifications of new jobs do not come. */
const LONGEST_PAUSE_UNNOTIFIED_MS = 500
/**
 * Pauses end at multiples of this, or a little before: one statement claims from many recipients, and looks
 * at those that are idle together.
 */
const PAUSES_END_AT_MS = FIRST_PAUSE_MS

export interface ClaimableRecipient {
  recipient: string
  isOpen: boolean
  isRestricted: boolean
  /** Attempts at a time over all processes, where that is restricted. */
  maxInFlight: number | null
}

export class RecipientStates {
  #states = new Map<string, State>()
  /** Those whose jobs that wait aside are claimed, in the order of their turns. */
  #turns = new Map<string, State>()
  /** Recipients whose jobs belong aside, and may wait in the lanes. */
  #inLanes = new Set<string>()
  /** Recipients whose jobs come back into the lanes. */
  #back = new Set<string>()
  #ordered = new Set<string>()
  #open = new Set<string>()

  /** Applies the rows of the table, or those that have changed. Recipients that were in it before keep their turn. */
  apply(rows: RecipientRow[], areAll: boolean): void {
    for (const row of rows) {
      const { recipient, ordered, circuitOpen } = row
      const state = stateOf(row, this.#states.get(recipient))
      const isAside = belongsAside(state)
      this.#states.set(recipient, state)
      setMember(this.#ordered, recipient, ordered)
      setMember(this.#open, recipient, circuitOpen)
      setMember(this.#inLanes, recipient, isAside && !state.isAside)
      setMember(this.#back, recipient, !isAside)
      if (isClaimable(state)) this.#turns.set(recipient, state)
      else this.#turns.delete(recipient)
    }
    if (!areAll) return
    const those = new Set(rows.map(({ recipient }) => recipient))
    this.forget([...this.#states.keys()].filter((recipient) => !those.has(recipient)))
  }

  /** These recipients have no row any more. */
  forget(recipients: readonly string[]): void {
    const all = [this.#states, this.#turns, this.#ordered, this.#open, this.#inLanes, this.#back]
    for (const known of all) for (const recipient of recipients) known.delete(recipient)
  }

  get size(): number {
    return this.#states.size
  }

  isRestricted(recipient: string): boolean {
    return this.#states.get(recipient)?.row.restricted ?? false
  }

  /** Whether there are ordered recipients. */
  get haveOrder(): boolean {
    return this.#ordered.size > 0
  }

  /** For how long an attempt of the recipient counts, with the time that a request may be on its way. */
  spanMsOf(recipient: string): number {
    const spanMs = 1000 * (this.#states.get(recipient)?.row.rateSeconds ?? 0)
    return spanMs + Math.min(spanMs / 2, 1000)
  }

  get inLanes(): ReadonlySet<string> {
    return this.#inLanes
  }

  /** All waiting jobs of these recipients have been put aside. */
  areAside(recipients: readonly string[]): void {
    for (const recipient of recipients) {
      const state = this.#states.get(recipient)
      if (state && this.#inLanes.delete(recipient)) state.isAside = true
    }
  }

  get back(): ReadonlySet<string> {
    return this.#back
  }

  get open(): ReadonlySet<string> {
    return this.#open
  }

  belongsAside(recipient: string): boolean {
    const state = this.#states.get(recipient)
    return state !== undefined && belongsAside(state)
  }

  /** Recipients whose jobs that wait aside may be claimed, in their turn. */
  claimable(now: number): ClaimableRecipient[] {
    return [...this.#turns.values()]
      .filter(({ emptyUntil, isRunning }) => emptyUntil <= now && !isRunning)
      .map(({ row: { recipient, circuitOpen, restricted, maxInFlight } }) => ({
        recipient,
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

  /** A job of this restricted recipient was claimed here: until its attempt has ended, none of an order follows. */
  began(recipient: string): void {
    const state = this.#states.get(recipient)
    if (state?.row.ordered) state.isRunning = true
  }

  /**
   * Whether this process claims the next job of this restricted recipient by itself: an attempt of an order is under
   * way here, or a claim is due.
   */
  claimsNext(recipient: string): boolean {
    const state = this.#states.get(recipient)
    return state?.row.restricted === true && (state.isRunning || state.emptyUntil === 0)
  }

  /** An attempt of this restricted recipient is done. Returns whether another job of it may wait. */
  done(recipient: string): boolean {
    const state = this.#states.get(recipient)
    if (!state) return false
    // The end of an attempt frees no allowance of a rate.
    const hasNext = state.row.ordered ? state.hasNext : state.row.maxInFlight !== null
    if (hasNext) this.ready([recipient])
    Object.assign(state, { isRunning: false, isBusy: false, hasNext: false })
    return hasNext
  }

  ready(recipients: readonly string[]): void {
    for (const recipient of recipients) {
      const state = this.#states.get(recipient)
      if (state) Object.assign(state, READY, { isRunning: false })
    }
  }

  /**
   * These recipients have new jobs to claim. Those of an ordered recipient with an attempt under way are for
   * the process that makes it. Returns whether all recipients are known.
   */
  haveNew(recipients: readonly string[]): boolean {
    for (const recipient of recipients) {
      const state = this.#states.get(recipient)
      if (state) state.hasNext = true
      if (state?.row.ordered && (state.isBusy || state.isRunning)) state.isClaiming = false
      else if (state) Object.assign(state, READY)
    }
    return recipients.every((recipient) => this.#states.has(recipient))
  }

  /** There may be jobs of any restricted recipient to claim. */
  allReady(): void {
    for (const state of this.#turns.values()) {
      if (state.row.restricted) Object.assign(state, READY, { hasNext: true })
    }
  }

  /** There may be jobs of a restricted recipient from then on. Returns whether that is sooner than known. */
  readyFrom(recipient: string, at: number): boolean {
    const state = this.#states.get(recipient)
    if (!state || state.emptyUntil <= at) return false
    state.emptyUntil = at
    return true
  }

  claimBegins(recipients: readonly string[]): void {
    for (const recipient of recipients) {
      const state = this.#states.get(recipient)
      if (state) state.isClaiming = true
    }
  }

  /**
   * The result of a claim for one restricted recipient. It is ignored where a notification came during
   * the claim, which may be newer. `isNotified`: whether this process receives notifications of new
   * jobs. Returns whether it counts.
   */
  claimEnded(
    { recipient, isBusy, hasMore, waitMs }: RecipientClaimResult,
    now: number,
    isNotified: boolean,
  ): boolean {
    const state = this.#states.get(recipient)
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
      state.emptyUntil = now + Math.max(SHORTEST_PAUSE_MS, waitMs)
      state.emptyForMs = FIRST_PAUSE_MS
    } else {
      const pauseMs = isWithTime ? longest : Math.min(longest, state.emptyForMs)
      state.emptyUntil = endOfPause(now, pauseMs)
      state.emptyForMs = pauseMs * 2
    }
    return true
  }

  /** Jobs of the recipient that wait aside were claimed: its next turn is the last. */
  claimed(recipient: string): void {
    const state = this.#states.get(recipient)
    if (!state) return
    state.emptyForMs = FIRST_PAUSE_MS
    if (this.#turns.delete(recipient)) this.#turns.set(recipient, state)
  }

  /** Fewer jobs of a recipient with an open circuit were due than its limit. */
  empty(recipient: string, now: number): void {
    const state = this.#states.get(recipient)
    if (!state) return
    state.emptyUntil = endOfPause(now, state.emptyForMs)
    state.emptyForMs = Math.min(LONGEST_PAUSE_OPEN_MS, state.emptyForMs * 2)
  }
}

const endOfPause = (now: number, pauseMs: number): number =>
  Math.floor((now + pauseMs) / PAUSES_END_AT_MS) * PAUSES_END_AT_MS
