/**
 * Bounds the cost of one filter for one event: each of its conditions reads through the lists of
 * the payload, and 4 KiB of conditions on a list of 100,000 elements would block the event loop.
 */

/** Steps along paths and through lists: some ten milliseconds. */
export const MOST_STEPS = 1_000_000
/** Characters of a text that count as one step. */
const CHARACTERS = 64

export class TooMuchWork extends Error {}

export class WorkBound {
  #left = MOST_STEPS

  get left(): number {
    return this.#left
  }

  /** @throws TooMuchWork */
  step(): void {
    this.take(1)
  }

  /** @throws TooMuchWork */
  take(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new TooMuchWork()
  }

  /** Takes the steps of a condition that reads all of the value. @throws TooMuchWork */
  takeFor(value: unknown): void {
    if (Array.isArray(value)) this.take(1 + value.length)
    else if (typeof value === 'string') this.take(1 + value.length / CHARACTERS)
    else this.step()
  }
}
