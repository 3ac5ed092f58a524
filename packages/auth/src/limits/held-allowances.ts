/** The allowances that a process holds of one limit or quota, and those that it is to give back. */
import type { Return } from '../tables/allowance-terms.ts'
import { PortionList, type Grant, type Portion } from './portion-list.ts'

/** How many portions are kept apart: those that are renewed would become as many as there were renewals. */
const MOST_PORTIONS = 2
/** Most meters give nothing back: they share this array. */
const NONE: never[] = []

export class HeldAllowances extends PortionList {
  /** Allowances that are usable under the limit of `useUnder`, as of the last `prune`. */
  held = 0
  /** Whether `takeReturns` has any. */
  hasReturns = false
  /** Taken, and not deducted from the portions yet: a request then reads none of them from memory. */
  #taken = 0
  #returns: readonly Return[] = NONE
  #limit = Infinity
  /** Since when it holds something of a higher limit that no request came with. */
  #aboveSince = Infinity

  /** From now on only what was granted under this limit or a lower one is held to be used. */
  useUnder(limit: number): void {
    this.#deduct()
    if (limit > this.#limit) this.#aboveSince = Infinity
    this.#limit = limit
    this.#count()
  }

  hold(grant: Grant): void {
    this.#deduct()
    if (grant.limit <= this.#limit) this.held += grant.count
    this.insert(this.portionOf(grant))
  }

  /**
   * The row of Postgres has this holder's allowances until then. Those stay usable that count in the
   * row for as long.
   */
  renew(holder: string, until: number): void {
    this.#deduct()
    let count = 0
    let rest = this.first
    this.setFirst(null)
    while (rest !== null) {
      const portion = rest
      rest = portion.next
      const isOfHolder = portion.isAhead && portion.holder === holder
      if (isOfHolder && portion.countsUntil >= until) portion.usableUntil = until
      this.insert(portion)
      count++
    }
    while (count-- > MOST_PORTIONS && this.mergeFirst());
    this.#count()
  }

  /** Whether the portion that ends first counts in the row for as long as a renewed lease lasts. */
  isRenewable(now: number, leaseMs: number): boolean {
    const first = this.first
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

  /** Gives back what is held ahead of need and was granted under a higher limit. */
  releaseAbove(limit: number, now: number): boolean {
    this.#deduct()
    return this.#giveBack((portion) => portion.isAhead && portion.limit > limit, now)
  }

  /** Gives back what is held ahead of need under a higher limit, if none of its requests came for `idleMs`. */
  releaseUnused(now: number, idleMs: number): boolean {
    let above = this.first
    while (above !== null && above.limit <= this.#limit) above = above.next
    this.#aboveSince = above === null ? Infinity : Math.min(this.#aboveSince, now)
    return now - this.#aboveSince > idleMs && this.releaseAbove(this.#limit, now)
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
    for (let one = this.first; one !== null; one = one.next) {
      if (one.isAhead && one.holder === holder) sum += one.count
    }
    return sum
  }

  /** What is held under any limit. */
  get total(): number {
    this.#deduct()
    let sum = 0
    for (let one = this.first; one !== null; one = one.next) sum += one.count
    return sum
  }

  get isEmpty(): boolean {
    this.#deduct()
    return this.first === null
  }

  /** Whether it holds allowances that were granted to a waiting request. */
  get hasUnspent(): boolean {
    this.#deduct()
    let one = this.first
    while (one !== null && one.isAhead) one = one.next
    return one !== null
  }

  #deduct(): void {
    let before: Portion | null = null
    let one = this.first
    while (this.#taken > 0) {
      const portion = one as Portion
      one = portion.next
      const part = portion.limit > this.#limit ? 0 : Math.min(this.#taken, portion.count)
      portion.count -= part
      this.#taken -= part
      if (portion.count === 0) this.remove(before, portion)
      else before = portion
    }
  }

  #count(): void {
    this.held = 0
    for (let one = this.first; one !== null; one = one.next) {
      if (one.limit <= this.#limit) this.held += one.count
    }
  }

  /** Gives back the portions for which `isOver` is true. */
  #giveBack(isOver: (portion: Portion) => boolean, now: number): boolean {
    let isAny = false
    let before: Portion | null = null
    for (let one = this.first; one !== null;) {
      const portion = one
      one = portion.next
      if (!isOver(portion)) {
        before = portion
        continue
      }
      const { count, stamp, countsUntil } = portion
      this.remove(before, portion)
      if (count === 0 || countsUntil <= now) continue
      this.#returns = [...this.#returns, { stamp, count }]
      this.hasReturns = true
      isAny = true
    }
    this.#count()
    return isAny
  }
}
