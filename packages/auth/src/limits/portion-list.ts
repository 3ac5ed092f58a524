/** The portions of allowances that a process holds of one limit or quota. */

/** Allowances that one statement granted. */
export interface Grant {
  readonly stamp: number
  readonly count: number
  readonly usableUntil: number
  /** Until then it counts in Postgres, so that giving it back has an effect. */
  readonly countsUntil: number
  readonly isAhead: boolean
  readonly holder: string
  /** The limit that it was granted under: requests with a lower one may not use it. */
  readonly limit: number
}

/** What is left of a grant. */
export type Portion = { -readonly [Field in keyof Grant]: Grant[Field] } & { next: Portion | null }

/**
 * The portions are a list whose objects are used again. New ones for each renewal of a hundred thousand
 * meters would all live long enough for the garbage collector to move them twice.
 */
export class PortionList {
  /** When the first portion ends. */
  firstEndsAt = Infinity
  /** In the order in which they end. */
  protected first: Portion | null = null
  /** The next grant is written into it. */
  #spare: Portion | null = null

  protected portionOf(grant: Grant): Portion {
    const { stamp, count, usableUntil, countsUntil, isAhead, holder, limit } = grant
    const portion = this.#spare
    if (portion === null) {
      return { stamp, count, usableUntil, countsUntil, isAhead, holder, limit, next: null }
    }
    this.#spare = null
    portion.stamp = stamp
    portion.count = count
    portion.usableUntil = usableUntil
    portion.countsUntil = countsUntil
    portion.isAhead = isAhead
    portion.holder = holder
    portion.limit = limit
    return portion
  }

  /** Behind all that end before it or with it. */
  protected insert(portion: Portion): void {
    let before: Portion | null = null
    let after = this.first
    while (after !== null && after.usableUntil <= portion.usableUntil) {
      before = after
      after = after.next
    }
    portion.next = after
    if (before === null) this.setFirst(portion)
    else before.next = portion
  }

  protected remove(before: Portion | null, portion: Portion): void {
    if (before === null) this.setFirst(portion.next)
    else before.next = portion.next
    portion.next = null
    this.#spare = portion
  }

  protected setFirst(portion: Portion | null): void {
    this.first = portion
    this.firstEndsAt = portion === null ? Infinity : portion.usableUntil
  }

  /**
   * The first two become one, with the earlier stamp and the higher limit. Of what was spent, the row
   * then counts as much, for as long or longer.
   */
  protected mergeFirst(): boolean {
    const first = this.first as Portion
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
    second.limit = Math.max(first.limit, second.limit)
    this.remove(null, first)
    return true
  }
}
