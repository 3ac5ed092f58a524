/** The groups that a queue's jobs belong to: who may have more in flight, and whose backlog is set back. */
import { Fairness, type Allowance } from './fairness.ts'
import type { Lane } from './job.ts'
import type { Lanes } from './lanes.ts'
import type { Outcome } from './worker.ts'

/** Fresh jobs of a tripped group follow its backlog so often. */
const SWEEP_MS = 1000

export class Groups {
  #fairness: Fairness
  /** Sets a portion of what groups have waiting back, and says whether there is more. Never rejects. */
  #setBack: (groups: string[]) => Promise<boolean>
  #setting: Promise<void> | undefined
  #sweep: NodeJS.Timeout | undefined
  #stopped = false
  #exist = false

  constructor(lanes: Lanes, setBack: (groups: string[]) => Promise<boolean>) {
    this.#setBack = setBack
    this.#fairness = new Fairness(lanes.windows)
  }

  /** Whether this queue's jobs have any. */
  get exist(): boolean {
    return this.#exist
  }

  allow(lane: Lane, room: number, generous: boolean): Allowance {
    return this.#fairness.allow(lane, room, Date.now(), generous)
  }

  /** A fetch in the fresh lane took so long, with these groups passed over for their caps. */
  walked(capped: string[], tookMs: number): void {
    if (this.#fairness.walked(capped, tookMs, Date.now()).length > 0) this.#setBackNow()
  }

  /** Whether a job that was fetched may begin; else it goes back. */
  admit(group: string | null, lane: Lane, generous: boolean): boolean {
    if (group !== null) this.#exist = true
    return this.#fairness.admit(group, lane, Date.now(), generous)
  }

  /** What a group that recovers has in the slow lane is done there, without a cap of its own. */
  ended(group: string | null, outcome: Outcome, tookMs: number): void {
    const change = this.#fairness.ended(group, successOf(outcome), tookMs, Date.now())
    if (change === 'tripped') this.#setBackNow()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#sweep)
    await this.#setting
  }

  #setBackNow(): void {
    this.#setting ??= this.#setBackAll().finally(() => {
      this.#setting = undefined
      this.#sweepLater()
    })
  }

  async #setBackAll(): Promise<void> {
    let more = true
    while (more && !this.#stopped) {
      const tripped = this.#fairness.tripped()
      more = tripped.length > 0 && (await this.#setBack(tripped))
    }
  }

  #sweepLater(): void {
    if (this.#stopped || this.#fairness.tripped().length === 0) return
    this.#sweep ??= setTimeout(() => {
      this.#sweep = undefined
      this.#setBackNow()
    }, SWEEP_MS)
    this.#sweep.unref()
  }
}

/** `null`: says nothing about the endpoint. */
function successOf(outcome: Outcome): boolean | null {
  if (outcome.kind === 'done') return true
  return outcome.kind === 'failed' || outcome.kind === 'dead' ? false : null
}
