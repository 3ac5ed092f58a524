/**
 * Decides filters whose work has no place in a publish or a request: one after another, with rests as long as
 * they took, so that the process goes on with everything else.
 */
import type { FilterMatch } from './compile-filter.ts'
import { EventValues } from './event-values.ts'
import { pause } from '../../time.ts'
import type { Subject } from './field-path.ts'
import { MOST_STEPS, WorkBound } from './work-bound.ts'

export interface Decision {
  /** `null` where the filter takes more steps than it may: the event must not be sent. */
  isMatch: boolean | null
  steps: number
}

/** After so much work a rest follows. A filter takes some ten milliseconds at most. */
const WORK_MS = 4

export class DeferredFilters {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #usedMs = 0
  #parsed: { text: string; value: unknown } | undefined

  /** `subject` is called when its turn comes. */
  decide(match: FilterMatch, subject: () => Subject): Promise<Decision> {
    this.#waiting++
    const decision = this.#last.then(() => this.#decide(match, subject))
    this.#last = decision.catch(() => {})
    return decision
  }

  /** A payload, which the filters of many recipients are asked about one after another. */
  parsed(text: string): unknown {
    if (this.#parsed?.text !== text) this.#parsed = { text, value: JSON.parse(text) as unknown }
    return this.#parsed.value
  }

  async #decide(match: FilterMatch, subject: () => Subject): Promise<Decision> {
    if (this.#usedMs >= WORK_MS) {
      await pause(Math.ceil(this.#usedMs))
      this.#usedMs = 0
    }
    const startedAt = performance.now()
    const work = new WorkBound()
    try {
      const isMatch = match(new EventValues(subject), work)
      return { isMatch, steps: Math.min(MOST_STEPS, Math.ceil(work.used)) }
    } finally {
      this.#usedMs += performance.now() - startedAt
      if (--this.#waiting === 0) this.#parsed = undefined
    }
  }
}
