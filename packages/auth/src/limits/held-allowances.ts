/** The allowances that a process holds of one limit or quota, and those that it is to give back. */
import type { Return } from '../tables/allowance-terms.ts'

/** Allowances that one statement granted. */
export interface Grant {
  readonly stamp: number
  readonly count: number
  readonly usableUntil: number
  /** Until then it counts in Postgres, so that giving it back has an effect. */
  readonly countsUntil: number
  readonly isAhead: boolean
  readonly holder: string
}

/** What is left of a grant. */
type Portion = { -readonly [Field in keyof Grant]: Grant[Field] } & { next: Portion | null }

/** How many portions are kept apart: those that are renewed would become as many as there were renewals. */
const MOST_PORTIONS = 2
/** Most meters give nothing back: they share this array. */
const NONE: never[] = []

/**
 * The portions are a list whose objects are used again. New ones for each renewal of a hundred thousand
 * meters would all live long enough for the garbage collector to move them twice.
 */
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
  #first: Portion | null = null
  /** The next grant is written into it. */
  #spare: Portion | null = null
  #returns: readonly Return[] = NONE

  hold(grant: Grant): void {
    this.#deduct()
    this.held += grant.count
    this.#insert(this.#portionOf(grant))
  }

  /**
   * The row of Postgres has this holder's allowances until then. Those stay usable that count in the
   * row for as long.
   */
  renew(holder: string, until: number): void {
    this.#deduct()
    let count = 0
    let rest = this.#first
    this.#setFirst(null)
    while (rest !== null) {
      const portion = rest
      rest = portion.next
      const isOfHolder = portion.isAhead && portion.holder === holder
      if (isOfHolder && portion.countsUntil >= until) portion.usableUntil = until
      this.#insert(portion)
      count++
    }
    while (count-- > MOST_PORTIONS && this.#mergeFirst());
  }

  /** Whether the portion that ends first counts in the row for as long as a renewed lease lasts. */
  isRenewable(now: number, leaseMs: number): boolean {
    const first = this.#first
    return first !== null && first.isAhead && first.countsUntil >= now + leaseMs
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
    return this.#giveBack((portion) => portion.usableUntil <= now, now)
  }

  /** Gives back all that is held. */
  release(now: number): boolean {
    this.#deduct()
    return this.#giveBack(() => true, now)
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
    for (let one = this.#first; one !== null; one = one.next) {
      if (one.isAhead && one.holder === holder) sum += one.count
    }
    return sum
  }

  get isEmpty(): boolean {
    this.#deduct()
    return this.#first === null
  }

  /** Whether it holds allowances that were granted to a waiting request. */
  get hasUnspent(): boolean {
    this.#deduct()
    let one = this.#first
    while (one !== null && one.isAhead) one = one.next
    return one !== null
  }

  #deduct(): void {
    while (this.#taken > 0) {
      const portion = this.#first as Portion
      const part = Math.min(this.#taken, portion.count)
      portion.count -= part
      this.#taken -= part
      if (portion.count === 0) this.#removeFirst()
    }
  }

  /** Gives back the portions at the head of the list for which `isOver` is true. */
  #giveBack(isOver: (portion: Portion) => boolean, now: number): boolean {
    let isAny = false
    while (this.#first !== null && isOver(this.#first)) {
      const { count, stamp, countsUntil } = this.#removeFirst()
      this.held -= count
      if (count === 0 || countsUntil <= now) continue
      this.#returns = [...this.#returns, { stamp, count }]
      this.hasReturns = true
      isAny = true
    }
    return isAny
  }

  #portionOf(grant: Grant): Portion {
    const { stamp, count, usableUntil, countsUntil, isAhead, holder } = grant
    const portion = this.#spare
    if (portion === null) {
      return { stamp, count, usableUntil, countsUntil, isAhead, holder, next: null }
    }
    this.#spare = null
    portion.stamp = stamp
    portion.count = count
    portion.usableUntil = usableUntil
    portion.countsUntil = countsUntil
    portion.isAhead = isAhead
    portion.holder = holder
    return portion
  }

  /** Behind all that end before it or with it. */
  #insert(portion: Portion): void {
    let before: Portion | null = null
    let after = this.#first
    while (after !== null && after.usableUntil <= portion.usableUntil) {
      before = after
      after = after.next
    }
    portion.next = after
    if (before === null) this.#setFirst(portion)
    else before.next = portion
  }

  #removeFirst(): Portion {
    const portion = this.#first as Portion
    this.#setFirst(portion.next)
    portion.next = null
    this.#spare = portion
    return portion
  }

  #setFirst(portion: Portion | null): void {
    this.#first = portion
    this.firstEndsAt = portion === null ? Infinity : portion.usableUntil
  }

  /**
   * The first two become one, with the earlier stamp. Of what was spent, the row then counts as much,
   * for as long or longer.
   */
  #mergeFirst(): boolean {
    const first = this.#first as Portion
    const second = first.next as Portion
    const isOne =
      first.isAhead &&
      second.isAhead &&
      first.holder === second.holder &&
      first.usableUntil === second.usableUntil
    if (!isOne) return false
    if (first.stamp < second.stamp) {
      second.stamp = first.stamp
      second.countsUntil = first.countsUntil
    }
    second.count += first.count
    this.#removeFirst()
    return true
  }
}
