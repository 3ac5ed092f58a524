/**
 * Decides filters whose work has no place in a publish or a request: one after another, in slices, with a
 * rest as long as the slice after each, so that the process goes on with everything else.
 */
import { setTimeout as rest } from 'node:timers/promises'
import type { FilterMatch } from './compile-filter.ts'
import { EventValues } from './event-values.ts'
import type { Subject } from './field-path.ts'
import { MOST_STEPS, Paused, SlicedWork } from './work-bound.ts'

export interface Decision {
  /** `null` where the filter takes more steps than it may: the event must not be sent. */
  isMatch: boolean | null
  steps: number
}

interface Task {
  match: FilterMatch
  event: EventValues
  work: SlicedWork
  resolve: (decision: Decision) => void
  reject: (error: unknown) => void
}

const SLICE_MS = 4

export class DeferredFilters {
  #tasks: Task[] = []
  #working = false
  #usedMs = 0
  #parsed: { text: string; value: unknown } | undefined

  /** `subject` is called when its turn comes. */
  decide(match: FilterMatch, subject: () => Subject): Promise<Decision> {
    const { promise, resolve, reject } = Promise.withResolvers<Decision>()
    const event = new EventValues(subject)
    this.#tasks.push({ match, event, work: new SlicedWork(), resolve, reject })
    if (!this.#working) void this.#work()
    return promise
  }

  /** A payload, which the filters of many recipients are asked about one after another. */
  parsed(text: string): unknown {
    if (this.#parsed?.text !== text) this.#parsed = { text, value: JSON.parse(text) as unknown }
    return this.#parsed.value
  }

  async #work(): Promise<void> {
    this.#working = true
    for (let task = this.#tasks[0]; task; task = this.#tasks[0]) {
      if (this.#usedMs >= SLICE_MS) {
        await rest(Math.ceil(this.#usedMs))
        this.#usedMs = 0
      }
      const startedAt = performance.now()
      if (this.#advance(task, startedAt + SLICE_MS - this.#usedMs)) this.#tasks.shift()
      this.#usedMs += performance.now() - startedAt
    }
    this.#parsed = undefined
    this.#working = false
  }

  #advance({ match, event, work, resolve, reject }: Task, endsAt: number): boolean {
    work.beginSlice(endsAt)
    try {
      const isMatch = match(event, work)
      resolve({ isMatch, steps: Math.min(MOST_STEPS, Math.ceil(work.used)) })
    } catch (error) {
      if (error instanceof Paused) return false
      reject(error)
    }
    return true
  }
}
