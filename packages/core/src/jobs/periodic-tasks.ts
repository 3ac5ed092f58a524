import { isAway } from '../postgres/connection-errors.ts'
import { loggable } from '../postgres/loggable-error.ts'
import { Timer, within } from '../time.ts'

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
  /**
   * No task has failed three times in a row. A run for which there was no connection, or no server that takes
   * writes, is no failure: `database` shows that.
   */
  ok: boolean
  /** Those whose last run that counts has failed. */
  failing: FailingTask[]
}

type Log = Record<'error' | 'warn' | 'info', (details: object, message: string) => void>

interface Failures {
  count: number
  since: string
  error: string
}

/** From so many failures in a row on a task counts as failing for good. */
const PERSISTENT = 3
const FIRST_RETRY_MS = 5000
/** How often it is looked whether the database is back, and within which time all tasks run then. */
const BACK_MS = 5000
/** A statement may take long; nothing of it is lost, since it is repeated at the next run. */
const STOPPED_WITHIN_MS = 10_000

export class PeriodicTasks {
  /** When each runs next. While it runs, its timer is not set. */
  #timers = new Map<PeriodicTask, Timer>()
  /** The last run of each: the next one begins after it. */
  #last = new Map<PeriodicTask, Promise<number | void>>()
  #failures = new Map<PeriodicTask, Failures>()
  /** Those whose last run found no database. The first of them looks whether it is back. */
  #waiting = new Set<PeriodicTask>()
  #waitSince = ''
  #stopping = new AbortController()
  #started = false
  #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  add(task: PeriodicTask): void {
    this.#timers.set(task, new Timer(() => this.#run(task)))
    if (this.#started) this.#soon(task)
  }

  start(): void {
    this.#started = true
    for (const task of this.#timers.keys()) this.#soon(task)
  }

  /** Runs each once, one after the other. A run that their timers have begun comes to its end before. */
  async runAll(): Promise<void> {
    for (const task of this.#timers.keys()) await this.#inTurn(task)
  }

  health(): TaskHealth {
    const all = [...this.#failures]
    return {
      ok: all.every(([, { count }]) => count < PERSISTENT),
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
    return [...this.#timers.keys()].map((task) => [task.name, this.#failures.get(task)?.count ?? 0])
  }

  async stop(): Promise<void> {
    this.#started = false
    this.#stopping.abort()
    for (const timer of this.#timers.values()) timer.clear()
    await within(STOPPED_WITHIN_MS, Promise.all(this.#last.values()), () => {})
  }

  /** The first run is within a minute: a process may not run for an hour. */
  #soon(task: PeriodicTask): void {
    this.#after(Math.min(task.seconds, 60) * 1000 * Math.random(), task)
  }

  /** Up to a tenth early or late, so that processes that boot together do not run it together. */
  #later(task: PeriodicTask): void {
    const [looks] = this.#waiting
    const retryMs =
      task === looks
        ? BACK_MS
        : FIRST_RETRY_MS * 2 ** ((this.#failures.get(task)?.count ?? Infinity) - 1)
    this.#after(Math.min(task.seconds * 1000, retryMs) * (0.9 + Math.random() * 0.2), task)
  }

  #after(ms: number, task: PeriodicTask): void {
    this.#timers.get(task)?.set(ms)
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
      this.#goOn(task)
      this.#succeeded(task)
      return againInMs
    } catch (error) {
      // The connections that it uses may be closed before it ends.
      if (this.#stopping.signal.aborted) return
      if (isAway(error)) return this.#wait(task, error)
      this.#goOn(task)
      this.#failed(task, error)
    }
  }

  #wait(task: PeriodicTask, error: unknown): void {
    if (this.#waiting.size === 0) {
      this.#waitSince = new Date().toISOString()
      this.#log.warn(
        { err: loggable(error), task: task.name },
        'periodic tasks wait for the database',
      )
    }
    this.#waiting.add(task)
  }

  /** The database has answered `task`: if that one waited, all others that wait run soon. */
  #goOn(task: PeriodicTask): void {
    if (!this.#waiting.delete(task)) return
    const others = [...this.#waiting]
    this.#waiting.clear()
    this.#log.info({ task: task.name, since: this.#waitSince }, 'periodic tasks go on')
    this.#allSoon(others)
  }

  #allSoon(others: readonly PeriodicTask[]): void {
    for (const other of others) {
      const timer = this.#timers.get(other)
      if (!timer?.isSet || !this.#started) continue
      timer.clear()
      timer.set(BACK_MS * Math.random())
    }
  }

  #succeeded(task: PeriodicTask): void {
    const failed = this.#failures.get(task)
    if (!failed) return
    this.#failures.delete(task)
    // What hindered it, such as a full disk, may have hindered them.
    this.#allSoon([...this.#failures.keys()])
    const { count, since } = failed
    this.#log.info({ task: task.name, failures: count, since }, 'a periodic task works again')
  }

  #failed(task: PeriodicTask, error: unknown): void {
    const { count, since } = this.#failures.get(task) ?? {
      count: 0,
      since: new Date().toISOString(),
    }
    const failed = { count: count + 1, since, error: messageOf(error) }
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
