/** The allowances that a process holds of one limit or quota, and those that it is to give back. */
import type { Return } from '../tables/allowance-terms.ts'

export interface Portion {
  readonly stamp: number
  count: number
  readonly usableUntil: number
  /** Until then it counts in Postgres, so that giving it back has an effect. */
  readonly countsUntil: number
  readonly isAhead: boolean
  readonly holder: string
}

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
  #portions: Portion[] = []
  #returns: Return[] = []

  hold(portion: Portion): void {
    this.#deduct()
    this.held += portion.count
    this.#portions.push(portion)
    this.#sort()
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
    this.#portions = []
    return this.#giveBack(portions, now)
  }

  takeReturns(): Return[] {
    const returns = this.#returns
    this.#returns = []
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
      if (portion.count === 0) this.#portions.shift()
    }
    this.firstEndsAt = this.#portions[0]?.usableUntil ?? Infinity
  }

  #giveBack(portions: readonly Portion[], now: number): boolean {
    let isAny = false
    for (const { count, stamp, countsUntil } of portions) {
      this.held -= count
      if (count === 0 || countsUntil <= now) continue
      this.#returns.push({ stamp, count })
      this.hasReturns = true
      isAny = true
    }
    this.#sort()
    return isAny
  }

  #sort(): void {
    if (this.#portions.length > 1) this.#portions.sort((a, b) => a.usableUntil - b.usableUntil)
    this.firstEndsAt = this.#portions[0]?.usableUntil ?? Infinity
  }
}
