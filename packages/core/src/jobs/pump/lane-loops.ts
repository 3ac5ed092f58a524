/** The loops that refill the lanes, until they are told to stop. */
import type { Lane } from '../job.ts'
import { pauseMsAfter } from './poll-interval.ts'
import { WakeableSleep } from './wakeable-sleep.ts'

export interface PumpLog {
  error(details: object, message: string): void
  info(details: object, message: string): void
}

/** Returns how long to wait before the next time. */
export type Refill = () => Promise<number>

interface Parts {
  queue: string
  /**
   * Whether the lanes take turns in one loop: there is one slot. Otherwise no lane waits for the
   * other's fetch.
   */
  inTurns: boolean
  refills: Record<Lane, Refill>
  fetchFailed: () => void
  log: PumpLog
}

export class LaneLoops {
  #parts: Parts
  #sleeps: Record<Lane, WakeableSleep>
  #running: Promise<void>[] = []
  #isStopping = false

  constructor(parts: Parts) {
    this.#parts = parts
    const retry = new WakeableSleep()
    this.#sleeps = { first: parts.inTurns ? retry : new WakeableSleep(), retry }
  }

  start(): void {
    const loops: Lane[][] = this.#parts.inTurns ? [['first', 'retry']] : [['first'], ['retry']]
    this.#running = loops.map((lanes) => this.#run(lanes))
  }

  /** The lane is refilled now, or at once after the refill under way. */
  wake(lane: Lane): void {
    this.#sleeps[lane].wake()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    for (const sleep of Object.values(this.#sleeps)) sleep.wake()
    await Promise.all(this.#running)
  }

  /** Refills these lanes in turn. */
  async #run(turns: Lane[]): Promise<void> {
    const { queue, refills, fetchFailed, log } = this.#parts
    const sleep = this.#sleeps[turns[0] ?? 'first']
    let failures = 0
    while (!this.#isStopping) {
      try {
        let waitMs = Infinity
        for (const lane of turns) waitMs = Math.min(waitMs, await refills[lane]())
        turns.reverse()
        if (failures > 0) log.info({ queue }, 'fetching jobs works again')
        failures = 0
        if (waitMs > 0) await sleep.sleep(waitMs)
      } catch (error) {
        fetchFailed()
        if (failures === 0) log.error({ err: error, queue }, 'could not fetch jobs; it tries again')
        await sleep.sleep(pauseMsAfter(++failures))
      }
    }
  }
}
