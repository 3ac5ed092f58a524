/** The hosts of the storm: processes that are killed, frozen and replaced. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Test } from 'tap'

export class Hosts {
  readonly #database: string
  readonly #running: { child: ChildProcess; port: number | null }[] = []
  /** What a host wrote before it ended by itself. */
  readonly complaints: string[] = []

  constructor(t: Test, database: string) {
    this.#database = database
    t.teardown(() => {
      for (const { child } of this.#running) child.kill('SIGKILL')
    })
  }

  get count(): number {
    return this.#running.length
  }

  /** The URL of a host that listens. */
  urlOf(host: number): string | null {
    const port = this.#running[host]?.port ?? null
    return port === null ? null : `http://127.0.0.1:${port}`
  }

  /** Starts a host in this place; a boot that fails is tried again. */
  start(place: number, { offsetMs = 0, isOther = false } = {}): void {
    const child = fork(
      join(import.meta.dirname, 'host-process.ts'),
      [this.#database, String(offsetMs), ...(isOther ? ['other'] : [])],
      { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
    )
    const running = { child, port: null as number | null }
    this.#running[place] = running
    let complaint = ''
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-2000)
    })
    child.once('message', ({ port }: { port: number }) => {
      running.port = port
    })
    child.once('exit', (_code, signal) => {
      if (this.#running[place] !== running || signal === 'SIGKILL') return
      // Without Postgres a host does not boot; a host that has come up ends by no fault.
      if (running.port !== null) this.complaints.push(complaint)
      this.start(place)
    })
  }

  async kill(place: number): Promise<void> {
    const { child } = this.#running[place]!
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  signal(place: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#running[place]!.child.kill(signal)
  }
}
