import type { Shape } from '../../key-format.ts'

/**
 * One for each shape: who makes up keys of another shape than ours takes nothing away from ours.
 */
export type MissBudgets = Readonly<Record<Shape, MissBudget>>

export const missBudgets = (): MissBudgets => ({
  minted: new MissBudget(),
  mistyped: new MissBudget(),
  foreign: new MissBudget(),
})

/**
 * How often Postgres may be asked about keys that nobody knows. What is spent on a key that turns
 * out to be valid is given back, so that only made-up keys use it up.
 */
export class MissBudget {
  #tokens: number
  #at: number
  readonly #size: number
  readonly #perSecond: number

  constructor(size = 2000, perSecond = 500, now = performance.now()) {
    this.#size = size
    this.#perSecond = perSecond
    this.#tokens = size
    this.#at = now
  }

  take(now = performance.now()): boolean {
    this.#tokens = Math.min(this.#size, this.#tokens + ((now - this.#at) / 1000) * this.#perSecond)
    this.#at = now
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }

  giveBack(): void {
    this.#tokens = Math.min(this.#size, this.#tokens + 1)
  }
}
