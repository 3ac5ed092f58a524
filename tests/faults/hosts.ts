/** The hosts of the storm: processes that are killed, frozen and replaced. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Deadline } from './deadline.ts'
import type { HostOptions } from './host-options.ts'
import type { Span } from './ledger.ts'
import { MACHINE_CLOCK_MS } from './stalls.ts'

/** A boot that failed, for want of Postgres, is tried again so much later. */
const BOOT_AGAIN_MS = 200
/** `close()` waits for attempts, which have their time-outs. */
const CLOSED_WITHIN_MS = 20_000

interface HostsOptions {
  /** The connection string of each host. */
  databases: readonly string[]
  /** Where the older version of the host is, if it can be had. */
  older: string | null
  /** Is told when a host had no turn, by `performance.now()`. */
  stalled: (stall: Span) => void
}

interface Running {
  child: ChildProcess
  options: HostOptions
  /** `null` until it listens. */
  port: number | null
  listensSince: number
  /** Whether its end is wanted. */
  isEnding: boolean
}

/** What a host tells. Times are those of the machine's clock. */
type Told = { port: number } | { stall: Span }

export class Hosts {
  /** What hosts wrote that ended by themselves, or did not end. */
  complaints: string[] = []
  readonly #databases: readonly string[]
  /** Where the older version is. */
  readonly #older: string | null
  readonly #stalled: (stall: Span) => void
  readonly #running: Running[] = []
  /** What is done to a place is done by one fault at a time. */
  readonly #turns: Promise<void>[] = []
  #isOver = false

  constructor({ databases, older, stalled }: HostsOptions) {
    this.#databases = databases
    this.#older = older
    this.#stalled = stalled
    for (const place of databases.keys()) this.#start(place, {})
  }

  get count(): number {
    return this.#running.length
  }

  /** The URL of a host that listens. */
  urlOf(place: number): string | null {
    const port = this.#running[place]?.port ?? null
    return port === null ? null : `http://127.0.0.1:${port}`
  }

  /** By `performance.now()`; a host that is killed boots anew. */
  listensSince(place: number): number {
    return this.#running[place]!.listensSince
  }

  /** SIGKILL, and another process in its place. */
  replace(place: number, options: HostOptions = {}): Promise<void> {
    return this.#inTurn(place, async () => {
      await this.#end(place, 'SIGKILL')
      this.#start(place, options)
    })
  }

  /** Sets the clock of a process that runs. */
  setClock(place: number, offsetMs: number): void {
    const { child, options } = this.#running[place]!
    options.offsetMs = offsetMs
    if (child.connected) child.send({ offsetMs }, () => {})
  }

  signal(place: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#running[place]!.child.kill(signal)
  }

  /** Makes all of them alike, by an orderly close of the others, and waits until they listen. */
  async renew(deadline: Deadline): Promise<void> {
    const places = this.#running.map((_, place) =>
      this.#inTurn(place, async () => {
        const { options } = this.#running[place]!
        if (options.offsetMs) this.setClock(place, 0)
        if (!options.isOther && !options.isOlder) return
        await this.#end(place, 'SIGTERM')
        this.#start(place, {})
      }),
    )
    await Promise.all(places)
    await deadline.until('the boot of all hosts', () =>
      this.#running.every(({ port }) => port !== null),
    )
  }

  /** Whether an older version can be had; without it the same version boots in its place. */
  get hasOlder(): boolean {
    return this.#older !== null
  }

  endAll(): void {
    this.#isOver = true
    for (const { child } of this.#running) child.kill('SIGKILL')
  }

  #inTurn(place: number, run: () => Promise<void>): Promise<void> {
    const turn = (this.#turns[place] ?? Promise.resolve()).then(run)
    this.#turns[place] = turn
    return turn
  }

  #start(place: number, options: HostOptions): void {
    if (this.#isOver) return
    const folder = (options.isOlder && this.#older) || import.meta.dirname
    const child = fork(
      join(folder, 'host-process.ts'),
      [this.#databases[place]!, JSON.stringify(options)],
      { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
    )
    const running: Running = {
      child,
      options: { ...options },
      port: null,
      listensSince: Infinity,
      isEnding: false,
    }
    this.#running[place] = running
    let text = ''
    child.stderr!.setEncoding('utf8').on('data', (more: string) => {
      text = (text + more).slice(-2000)
    })
    child.on('message', (told: Told) => {
      if ('port' in told)
        Object.assign(running, { port: told.port, listensSince: performance.now() })
      else this.#stalled(ownTimes(told.stall))
    })
    child.once('exit', (code, signal) => {
      if (running.isEnding || this.#isOver) {
        if (signal !== 'SIGKILL' && code !== 0) this.complaints.push(`closed with ${code}: ${text}`)
        return
      }
      // Without Postgres a host does not boot; a host that has come up ends by no fault.
      if (running.port !== null) this.complaints.push(`ended with ${code ?? signal}: ${text}`)
      running.port = null
      void this.#inTurn(place, async () => {
        await setTimeout(BOOT_AGAIN_MS)
        if (this.#running[place] === running) this.#start(place, running.options)
      })
    })
  }

  async #end(place: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const running = this.#running[place]!
    const { child } = running
    running.isEnding = true
    running.port = null
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    const late = setTimeout(CLOSED_WITHIN_MS, 'late' as const, { ref: false })
    if ((await Promise.race([ended, late])) !== 'late') return
    this.complaints.push(`did not close within ${CLOSED_WITHIN_MS / 1000} s`)
    child.kill('SIGKILL')
    await ended
  }
}

const ownTimes = ({ from, until }: Span): Span => ({
  from: from - MACHINE_CLOCK_MS,
  until: until - MACHINE_CLOCK_MS,
})
