/** The allowances that a process holds of one limit or quota, and those that it is to give back. */
import type { Return } from '../tables/allowance-terms.ts'

export interface Portion {
  readonly stamp: number
  count: number
  usableUntil: number
  /** Until then it counts in Postgres, so that giving it back has an effect. */
  readonly countsUntil: number
  readonly isAhead: boolean
  readonly holder: string
}

/** The longest time for which Postgres lets a process hold allowances ahead of need, see sql/020. */
const LEASE_MS = 60_000
/** How long before its end a portion is renewed, if the meter is used. */
const RENEWED_WITHIN_MS = 20_000
/** How many portions are kept apart: those that are renewed would become as many as there were renewals. */
const MOST_PORTIONS = 2
/** Most meters hold one portion or none, and give nothing back: they share this array. */
const NONE: never[] = []

export class HeldAllowances {
  /** Usable allowances, as of the last `prune`. */
  held = 0
  /** Whether `takeReturns` has any. */
  hasReturns = false
  /** Taken, and not deducted from the portions yet: a request then reads none of them from memory. */
  #taken = 0
  /** When the first portion ends. */
  firstEndsAt = Infinity
  /** In the order in which they end. */
  #portions: readonly Portion[] = NONE
  #returns: readonly Return[] = NONE

  hold(portion: Portion): void {
    this.#deduct()
    this.held += portion.count
    this.#portions = [...this.#portions, portion]
    this.#sort()
  }

  /**
   * The row of Postgres has this holder's allowances until then. Those stay usable that count in the
   * row for as long.
   */
  renew(holder: string, until: number): void {
    this.#deduct()
    for (const portion of this.#portions) {
      const isOfHolder = portion.isAhead && portion.holder === holder
      if (isOfHolder && portion.countsUntil >= until) portion.usableUntil = until
    }
    this.#sort()
    while (this.#portions.length > MOST_PORTIONS && this.#mergeFirst());
  }

  get renewedFrom(): number {
    return this.firstEndsAt - RENEWED_WITHIN_MS
  }

  /** Whether the portion that ends first counts in the row for as long as a renewed lease lasts. */
  isRenewable(now: number): boolean {
    const [first] = this.#portions
    return first !== undefined && first.isAhead && first.countsUntil >= now + LEASE_MS
  }

  /** Only as many as are `held`. */
  take(cost: number): void {
    this.held -= cost
    this.#taken += cost
  }

  /** Whether anything of it is to be given back. */
  prune(now: number): boolean {
    if (now < this.firstEndsAt) return false
    this.#deduct()
    const ended = this.#portions.filter(({ usableUntil }) => usableUntil <= now)
    this.#portions = this.#portions.filter(({ usableUntil }) => usableUntil > now)
    return this.#giveBack(ended, now)
  }

  /** Gives back all that is held. */
  release(now: number): boolean {
    this.#deduct()
    const portions = this.#portions
    this.#portions = NONE
    return this.#giveBack(portions, now)
  }

  takeReturns(): readonly Return[] {
    const returns = this.#returns
    this.#returns = NONE
    this.hasReturns = false
    return returns
  }

  /** The entry of one holder in a row of Postgres. */
  heldAheadBy(holder: string): number {
    this.#deduct()
    let sum = 0
    for (const { isAhead, count, holder: by } of this.#portions) {
      if (isAhead && by === holder) sum += count
    }
    return sum
  }

  get isEmpty(): boolean {
    this.#deduct()
    return this.#portions.length === 0
  }

  /** Whether it holds allowances that were granted to a waiting request. */
  get hasUnspent(): boolean {
    this.#deduct()
    return this.#portions.some(({ isAhead }) => !isAhead)
  }

  #deduct(): void {
    while (this.#taken > 0) {
      const portion = this.#portions[0] as Portion
      const part = Math.min(this.#taken, portion.count)
      portion.count -= part
      this.#taken -= part
      if (portion.count === 0) this.#portions = this.#portions.slice(1)
    }
    this.firstEndsAt = this.#portions[0]?.usableUntil ?? Infinity
  }

  #giveBack(portions: readonly Portion[], now: number): boolean {
    let isAny = false
    for (const { count, stamp, countsUntil } of portions) {
      this.held -= count
      if (count === 0 || countsUntil <= now) continue
      this.#returns = [...this.#returns, { stamp, count }]
      this.hasReturns = true
      isAny = true
    }
    this.#sort()
    return isAny
  }

  #sort(): void {
    if (this.#portions.length > 1) {
      this.#portions = this.#portions.toSorted((a, b) => a.usableUntil - b.usableUntil)
    }
    this.firstEndsAt = this.#portions[0]?.usableUntil ?? Infinity
  }

  /**
   * The first two become one, with the earlier stamp. Of what was spent, the row then counts as much,
   * for as long or longer.
   */
  #mergeFirst(): boolean {
    const [first, second, ...others] = this.#portions as [Portion, Portion, ...Portion[]]
    const isOne =
      first.isAhead &&
      second.isAhead &&
      first.holder === second.holder &&
      first.usableUntil === second.usableUntil
    if (!isOne) return false
    const older = first.stamp <= second.stamp ? first : second
    this.#portions = [{ ...older, count: first.count + second.count }, ...others]
    return true
  }
}
