/**
 * Processes that share limits, in memory: nothing happens but what a test asks for, by a clock that it
 * moves. Each statement is answered after 2 ms, or after `tookMs`, by the model of Postgres.
 */
import { Limiter, type LimitDecision } from '../../../packages/auth/src/limits/limiter.ts'
import type { MeterList } from '../../../packages/auth/src/limits/meter-list.ts'
import type { Batch, Rule } from '../../../packages/auth/src/tables/allowances.ts'
import { Ledger } from './ledger.ts'

export interface StagedProcess {
  limiter: Limiter
  listOf: (rules: readonly Rule[], quota?: Rule | null) => MeterList
  /** The decisions about these requests, which come at one moment, in this order. */
  ask: (...lists: MeterList[]) => string[]
  askFor: (list: MeterList, cost: number) => LimitDecision
}

export class LimiterStage {
  now = Date.UTC(2030, 0, 15)
  tookMs = 2
  /** Whether statements fail. */
  isAway = false
  readonly batches: Batch[] = []
  #ledger = new Ledger()
  #due: { at: number; run: () => void }[] = []

  start(name: string): StagedProcess {
    let holders = 0
    const limiter = new Limiter({
      now: () => this.now,
      schedule: (run) => this.#after(0, run),
      newHolder: () => `${name}-${++holders}`,
      send: (batch, done) => {
        this.batches.push(batch)
        this.#after(this.tookMs / 2, () => {
          const answer = this.isAway ? new Error('away') : this.#ledger.take(batch, this.now)
          this.#after(this.tookMs / 2, () => done(answer))
        })
      },
    })
    const sweep = (): void => {
      limiter.sweep()
      this.#after(500, sweep)
    }
    this.#after(500, sweep)

    const decide = (list: MeterList, cost: number): (() => LimitDecision | null) => {
      let decision = limiter.take(list, cost)
      if (decision === null) limiter.wait(list, cost, (late) => (decision = late))
      return () => decision
    }
    return {
      limiter,
      listOf: (rules, quota = null) => limiter.listOf(rules, quota)!,
      ask: (...lists) => {
        const decisions = lists.map((list) => decide(list, 1))
        this.pass(10, () => decisions.every((decision) => decision() !== null))
        return decisions.map((decision) => nameOf(decision()))
      },
      askFor: (list, cost) => {
        const decision = decide(list, cost)
        this.pass(2500, () => decision() !== null)
        return decision() as LimitDecision
      },
    }
  }

  /** Until that many milliseconds have passed, or sooner. */
  pass(ms: number, isDone: () => boolean = () => false): void {
    const until = this.now + ms
    while (!isDone()) {
      const next = this.#due[0]
      if (next === undefined || next.at > until) break
      this.#due.shift()
      this.now = next.at
      next.run()
    }
    if (!isDone()) this.now = until
  }

  #after(ms: number, run: () => void): void {
    const at = this.now + ms
    const index = this.#due.findIndex((one) => one.at > at)
    this.#due.splice(index === -1 ? this.#due.length : index, 0, { at, run })
  }
}

function nameOf(decision: LimitDecision | null): string {
  if (decision === null) return 'waits'
  return typeof decision === 'string' ? decision : 'over'
}
