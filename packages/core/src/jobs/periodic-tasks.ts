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
  #running = new Set<Promise<void>>()
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

  /** Runs each once, one after the other, beside their timers. */
  async runAll(): Promise<void> {
    for (const task of this.#tasks) await this.#try(task)
  }

  async stop(): Promise<void> {
    this.#started = false
    for (const timer of this.#timers.values()) clearTimeout(timer)
    await Promise.all(this.#running)
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
    const timer = setTimeout(() => {
      const running = this.#run(task).finally(() => this.#running.delete(running))
      this.#running.add(running)
    }, ms)
    timer.unref()
    this.#timers.set(task, timer)
  }

  async #run(task: PeriodicTask): Promise<void> {
    const againInMs = await this.#try(task)
    if (!this.#started) return
    if (againInMs === undefined) this.#later(task)
    else this.#after(againInMs, task)
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
