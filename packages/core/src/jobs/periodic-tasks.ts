import { isLostConnection } from '../postgres/connection-errors.ts'
import { loggable } from '../postgres/loggable-error.ts'
import { within } from '../within.ts'

/** Work that is repeated in the background, from ready to close. */
export interface PeriodicTask {
  name: string
  seconds: number
  /**
   * Resolves with the milliseconds until the next run where `seconds` is not to apply. `stopping` aborts
   * when the host closes: a task of many portions ends after the one that it is at.
   */
  run: (stopping: AbortSignal) => Promise<number | void>
}

/** A periodic task whose last runs have failed. */
export interface FailingTask {
  /** What it does, in words. */
  name: string
  /** How many of its runs have failed, one after another. */
  failures: number
  /** The time of the first of these failures, ISO 8601. */
  since: string
  /** The message of the last error. */
  error: string
}

/** The state of the periodic tasks of this process. */
export interface TaskHealth {
  /** No task has failed three times in a row. Failures for want of a connection are left out: `database` shows them. */
  ok: boolean
  /** Those whose last run has failed. */
  failing: FailingTask[]
}

interface Log {
  error(details: object, message: string): void
  info(details: object, message: string): void
}

interface Failures {
  count: number
  /** Without those that only showed that there was no connection. */
  counted: number
  since: string
  error: string
}

/** From so many failures in a row on a task counts as failing for good. */
const PERSISTENT = 3
const FIRST_RETRY_MS = 5000
/** A statement may take long; nothing of it is lost, since it is repeated at the next run. */
const STOPPED_WITHIN_MS = 10_000

export class PeriodicTasks {
  #tasks: PeriodicTask[] = []
  #timers = new Map<PeriodicTask, NodeJS.Timeout>()
  /** The last run of each: the next one begins after it. */
  #last = new Map<PeriodicTask, Promise<number | void>>()
  #failures = new Map<PeriodicTask, Failures>()
  #stopping = new AbortController()
  #started = false
  #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  add(task: PeriodicTask): void {
    this.#tasks.push(task)
    if (this.#started) this.#soon(task)
  }

  start(): void {
    this.#started = true
    for (const task of this.#tasks) this.#soon(task)
  }

  /** Runs each once, one after the other. A run that their timers have begun comes to its end before. */
  async runAll(): Promise<void> {
    for (const task of this.#tasks) await this.#inTurn(task)
  }

  health(): TaskHealth {
    const all = [...this.#failures]
    return {
      ok: all.every(([, { counted }]) => counted < PERSISTENT),
      failing: all.map(([{ name }, { count, since, error }]) => ({
        name,
        failures: count,
        since,
        error,
      })),
    }
  }

  /** How many runs of each task have failed, one after another. */
  failures(): [name: string, failures: number][] {
    return this.#tasks.map((task) => [task.name, this.#failures.get(task)?.count ?? 0])
  }

  async stop(): Promise<void> {
    this.#started = false
    this.#stopping.abort()
    for (const timer of this.#timers.values()) clearTimeout(timer)
    await within(STOPPED_WITHIN_MS, Promise.all(this.#last.values()), () => {})
  }

  /** The first run is within a minute: a process may not run for an hour. */
  #soon(task: PeriodicTask): void {
    this.#after(Math.min(task.seconds, 60) * 1000 * Math.random(), task)
  }

  /** Up to a tenth early or late, so that processes that boot together do not run it together. */
  #later(task: PeriodicTask): void {
    const retryMs = FIRST_RETRY_MS * 2 ** ((this.#failures.get(task)?.count ?? Infinity) - 1)
    this.#after(Math.min(task.seconds * 1000, retryMs) * (0.9 + Math.random() * 0.2), task)
  }

  #after(ms: number, task: PeriodicTask): void {
    const timer = setTimeout(() => void this.#run(task), ms)
    timer.unref()
    this.#timers.set(task, timer)
  }

  async #run(task: PeriodicTask): Promise<void> {
    const againInMs = await this.#inTurn(task)
    if (!this.#started) return
    if (againInMs === undefined) this.#later(task)
    else this.#after(againInMs, task)
  }

  /** Never rejects. */
  #inTurn(task: PeriodicTask): Promise<number | void> {
    const before = this.#last.get(task) ?? Promise.resolve()
    const run = before.then(() => this.#try(task))
    this.#last.set(task, run)
    return run
  }

  async #try(task: PeriodicTask): Promise<number | void> {
    try {
      const againInMs = await task.run(this.#stopping.signal)
      this.#succeeded(task)
      return againInMs
    } catch (error) {
      // The connections that it uses may be closed before it ends.
      if (!this.#stopping.signal.aborted) this.#failed(task, error)
    }
  }

  #succeeded(task: PeriodicTask): void {
    const failed = this.#failures.get(task)
    if (!failed) return
    this.#failures.delete(task)
    const { count, since } = failed
    this.#log.info({ task: task.name, failures: count, since }, 'a periodic task works again')
  }

  #failed(task: PeriodicTask, error: unknown): void {
    const known = this.#failures.get(task) ?? {
      count: 0,
      counted: 0,
      since: new Date().toISOString(),
    }
    const failed = {
      ...known,
      count: known.count + 1,
      counted: known.counted + (isLostConnection(error) ? 0 : 1),
      error: messageOf(error),
    }
    this.#failures.set(task, failed)
    this.#log.error(
      { err: loggable(error), task: task.name, failures: failed.count, since: failed.since },
      'a periodic task failed; it is tried again',
    )
  }
}

/** An Unavailable says what its cause was: the message for an operator. */
function messageOf(error: unknown): string {
  const { message, cause } = (error ?? {}) as { message?: unknown; cause?: unknown }
  const inner = (cause as { message?: unknown } | undefined)?.message
  return [message ?? String(error), inner].filter((text) => typeof text === 'string').join(': ')
}
