/** The end of patience: what has not come by then is named in an error. */
import { until } from '../support/until.ts'

type Falsy = false | null | undefined

export class Deadline {
  readonly #at: number
  readonly #ms: number

  constructor(ms: number) {
    this.#ms = ms
    this.#at = performance.now() + ms
  }

  /** Asks until the answer is a truthy one. */
  async until<Value>(
    what: string,
    ask: () => Value | Promise<Value>,
    pauseMs = 50,
  ): Promise<Exclude<Value, Falsy>> {
    const answer = await until(
      () => {
        if (performance.now() > this.#at) {
          throw new Error(`${what} has not come within ${this.#ms / 1000} s`)
        }
        return ask()
      },
      Boolean,
      pauseMs,
    )
    return answer as Exclude<Value, Falsy>
  }
}
