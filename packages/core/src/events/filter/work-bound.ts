/**
 * Bounds the work of filters for one event: each condition reads through the lists of the payload, and
 * 4 KiB of conditions on a list of 100,000 elements would block the event loop.
 */

/** Steps along paths and through lists that one filter may take for one event: some ten milliseconds. */
export const MOST_STEPS = 1_000_000
/** Characters of a text that count as one step. */
const CHARACTERS = 64

export class TooMuchWork extends Error {}

export class WorkBound {
  #most: number
  #left: number

  constructor(most = MOST_STEPS) {
    this.#most = most
    this.#left = most
  }

  get used(): number {
    return this.#most - this.#left
  }

  step(): void {
    this.take(1)
  }

  /** @throws TooMuchWork */
  take(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new TooMuchWork()
  }
}

/** The steps that a condition takes which reads all of a value. */
export function stepsToRead(value: unknown): number {
  if (Array.isArray(value)) return 1 + value.length
  if (typeof value === 'string') return 1 + value.length / CHARACTERS
  return 1
}

/** What the filters of one event may take together in the process that publishes it. */
export const STEPS_OF_EVENT = 200_000
/** A filter that takes more is dear: it is decided elsewhere, so that it does not use up what others need. */
export const STEPS_OF_DEAR = STEPS_OF_EVENT / 10
