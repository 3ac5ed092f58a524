import { loggable } from '../postgres/loggable-error.ts'

/** Work that is done now and then in the background, from ready to close. */
export interface Sweep {
  name: string
  seconds: number
  task: () => Promise<void>
}

export class Sweeps {
  #sweeps: Sweep[] = []
  #timers = new Map<Sweep, NodeJS.Timeout>()
  #running = new Set<Promise<void>>()
  #started = false
  #log: { error(details: object, message: string): void }

  constructor(log: { error(details: object, message: string): void }) {
    this.#log = log
  }

  add(sweep: Sweep): void {
    this.#sweeps.push(sweep)
    if (this.#started) this.#soon(sweep)
  }

  start(): void {
    this.#started = true
    for (const sweep of this.#sweeps) this.#soon(sweep)
  }

  async stop(): Promise<void> {
    this.#started = false
    for (const timer of this.#timers.values()) clearTimeout(timer)
    await Promise.all(this.#running)
  }

  /** The first time within a minute: a process may not live for an hour. */
  #soon(sweep: Sweep): void {
    this.#after(Math.min(sweep.seconds, 60) * 1000 * Math.random(), sweep)
  }

  /** Up to a tenth early or late, so that processes that boot together do not sweep together. */
  #later(sweep: Sweep): void {
    this.#after(sweep.seconds * 1000 * (0.9 + Math.random() * 0.2), sweep)
  }

  #after(ms: number, sweep: Sweep): void {
    const timer = setTimeout(() => {
      const running = this.#run(sweep).finally(() => this.#running.delete(running))
      this.#running.add(running)
    }, ms)
    timer.unref()
    this.#timers.set(sweep, timer)
  }

  async #run(sweep: Sweep): Promise<void> {
    try {
      await sweep.task()
    } catch (error) {
      this.#log.error({ err: loggable(error), sweep: sweep.name }, 'a sweep failed')
    }
    if (this.#started) this.#later(sweep)
  }
}
