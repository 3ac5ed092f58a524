/** The values that filters read of one event, kept because many filters read the same path. */
import { valuesAt, type Subject } from './field-path.ts'
import { stepsToRead, type WorkBound } from './work-bound.ts'

/** How many values are kept of one event: there could be a hundred paths through one long list. */
const MOST_KEPT = 200_000

interface Known {
  values: readonly unknown[]
  /** What a condition takes that reads them. */
  steps: number
}

export class EventValues {
  #subject: () => Subject
  #parsed: Subject | undefined
  #known = new Map<string, Known>()
  #kept = 0

  /** `subject` is called where a filter needs it. */
  constructor(subject: Subject | (() => Subject)) {
    this.#subject = typeof subject === 'function' ? subject : () => subject
  }

  /**
   * Only the first to ask pays for the way to them. `key` is {@link keyOfPath}, `times` how often they are
   * read. @throws TooMuchWork
   */
  valuesAt(
    path: readonly string[],
    key: string,
    work: WorkBound,
    times: number,
  ): readonly unknown[] {
    const known = this.#known.get(key)
    if (known !== undefined) {
      work.take(known.steps * times)
      return known.values
    }
    const values = valuesAt((this.#parsed ??= this.#subject()), path, work)
    let steps = 0
    for (const value of values) steps += stepsToRead(value)
    work.take(steps * times)
    if (this.#kept + values.length <= MOST_KEPT) {
      this.#kept += values.length
      this.#known.set(key, { values, steps })
    }
    return values
  }
}

/** No field has a NUL in its name, see filter-limits.ts. */
export const keyOfPath = (path: readonly string[]): string => path.join('\0')
