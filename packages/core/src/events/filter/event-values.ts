/** The values that filters read of one event, kept because many filters read the same path. */
import { valuesAt, type Subject } from './field-path.ts'
import { TooMuchWork, WorkBound } from './work-bound.ts'

/** Longer lists of values are not kept: there could be a hundred paths through one long list. */
const MOST_KEPT = 100

interface Known {
  values: readonly unknown[]
  /** Steps that it takes to find them. */
  steps: number
}

export class EventValues {
  #subject: Subject
  #known = new Map<string, Known>()

  constructor(subject: Subject) {
    this.#subject = subject
  }

  /**
   * A filter pays the same for values that another filter has read before. `key` is {@link
   * keyOfPath}. @throws TooMuchWork
   */
  valuesAt(path: readonly string[], key: string, work: WorkBound): readonly unknown[] {
    const known = this.#known.get(key)
    if (known !== undefined) {
      work.take(known.steps)
      return known.values
    }
    const before = work.left
    const values = valuesAt(this.#subject, path, work)
    if (values.length <= MOST_KEPT) this.#known.set(key, { values, steps: before - work.left })
    return values
  }

  /** The texts, numbers, true and false at a path and in the lists there; `null` for too much work. */
  scalarsAt(path: readonly string[], key: string): readonly unknown[] | null {
    try {
      return this.valuesAt(path, key, new WorkBound()).flat()
    } catch (error) {
      if (error instanceof TooMuchWork) return null
      throw error
    }
  }
}

/** No field has a NUL in its name, see filter-limits.ts. */
export const keyOfPath = (path: readonly string[]): string => path.join('\0')
