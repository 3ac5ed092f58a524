/** The groups that a queue's jobs belong to: which are passed over, and their backlogs' way between the lanes. */
import { Fairness } from './fairness.ts'
import type { Lane } from './job.ts'
import type { Lanes } from './lanes.ts'
import type { Outcome } from './worker.ts'

/** Fresh jobs of a tripped group follow the others into the slow lane so often. */
const SWEEP_MS = 1000
const FAILURES_TO_TRIP = 10

export class Groups {
  #fairness: Fairness
  /** Moves the waiting jobs of groups to a lane; never rejects. */
  #move: (groups: string[], lane: Lane) => Promise<void>
  #moving = new Set<Promise<void>>()
  #sweep: NodeJS.Timeout | undefined
  #stopped = false
  #exist = false

  constructor(lanes: Lanes, move: (groups: string[], lane: Lane) => Promise<void>) {
    this.#move = move
    this.#fairness = new Fairness({
      perGroup: Math.max(1, Math.floor(lanes.concurrency / 4)),
      perTrippedGroup: Math.max(1, Math.floor(lanes.windows.slow / 8)),
      failuresToTrip: FAILURES_TO_TRIP,
    })
  }

  /** Whether this queue's jobs have any. */
  get exist(): boolean {
    return this.#exist
  }

  /** Within one fetch nothing holds a group at its cap: it may exceed it by one portion. */
  get portion(): number {
    return this.#exist ? this.#fairness.caps.perGroup : Infinity
  }

  passedOver(lane: Lane): { names: string[]; capped: boolean } {
    return this.#fairness.passedOver(lane)
  }

  started(group: string | null): void {
    if (group !== null) this.#exist = true
    this.#fairness.started(group)
  }

  ended(group: string | null, outcome: Outcome): void {
    const change = this.#fairness.ended(group, successOf(outcome))
    if (!change || group === null) return
    void this.#start([group], change === 'tripped' ? 'slow' : 'fresh')
    if (change === 'tripped') this.#sweepLater()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#sweep)
    await Promise.all(this.#moving)
  }

  #sweepLater(): void {
    if (this.#stopped) return
    this.#sweep ??= setTimeout(() => {
      this.#sweep = undefined
      const tripped = this.#fairness.tripped()
      if (tripped.length === 0) return
      void this.#start(tripped, 'slow').then(() => this.#sweepLater())
    }, SWEEP_MS)
    this.#sweep.unref()
  }

  #start(groups: string[], lane: Lane): Promise<void> {
    const moved = this.#move(groups, lane).finally(() => this.#moving.delete(moved))
    this.#moving.add(moved)
    return moved
  }
}

/** `null`: says nothing about the endpoint. */
function successOf(outcome: Outcome): boolean | null {
  if (outcome.kind === 'done') return true
  return outcome.kind === 'failed' || outcome.kind === 'dead' ? false : null
}
