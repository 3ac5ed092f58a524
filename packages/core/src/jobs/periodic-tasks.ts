import { loggable } from '../postgres/loggable-error.ts'

/** Work that is repeated in the background, from ready to close. */
export interface PeriodicTask {
  name: string
  seconds: number
  /** Resolves with the milliseconds until the next run where `seconds` is not to apply. */
  run: () => Promise<number | void>
}

export class PeriodicTasks {
  #tasks: PeriodicTask[] = []
  #timers = new Map<PeriodicTask, NodeJS.Timeout>()
  /** The last run of each: the next one begins after it. */
  #last = new Map<PeriodicTask, Promise<number | void>>()
  #started = false
  #log: { error(details: object, message: string): void }

  constructor(log: { error(details: object, message: string): void }) {
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

  async stop(): Promise<void> {
    this.#started = false
    for (const timer of this.#timers.values()) clearTimeout(timer)
    await Promise.all(this.#last.values())
  }

  /** The first run is within a minute: a process may not run for an hour. */
  #soon(task: PeriodicTask): void {
    this.#after(Math.min(task.seconds, 60) * 1000 * Math.random(), task)
  }

  /** Up to a tenth early or late, so that processes that boot together do not run it together. */
  #later(task: PeriodicTask): void {
    this.#after(task.seconds * 1000 * (0.9 + Math.random() * 0.2), task)
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
      return await task.run()
    } catch (error) {
      this.#log.error(
        { err: loggable(error), task: task.name },
        'a periodic task failed; it runs again at its next time',
      )
    }
  }
}
