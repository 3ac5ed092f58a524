/**
 * Processes that share limits, in memory: a schedule of requests, delays, lost answers, pauses and
 * kills from a seed, against the model of Postgres. It records what was admitted, where and when.
 */
import { Limiter, type LimitDecision } from '../../../packages/auth/src/limits/limiter.ts'
import type { MeterList } from '../../../packages/auth/src/limits/meter-list.ts'
import type { Rule } from '../../../packages/auth/src/tables/allowances.ts'
import { Ledger } from './ledger.ts'
import { seededRandom } from './random.ts'

export interface Admission {
  at: number
  process: number
  /** With the key that `successor` is. */
  isOfSuccessor: boolean
}

export interface KeyOfModel {
  rules: Rule[]
  quota?: Rule | null
}

export interface ModelOptions extends KeyOfModel {
  seed: number
  /** A key that shares the counts, with limits of its own: every other request is made with it. */
  successor?: KeyOfModel
  cost?: number
  processes: number
  /** For how long requests come. */
  forMs: number
  /** Milliseconds between two requests, on average. */
  everyMs: number
  /** One by one, and none of them in bursts. */
  isSteady?: boolean
  /** Chance of each second in which something goes wrong. */
  killsPerSecond?: number
  pausesPerSecond?: number
  /** Which share of the answers of Postgres is lost. */
  lostShare?: number
  /** Longest way of a statement, and of its answer. */
  delayMs?: number
  /** Steps of the clock of Postgres, in a random second each. */
  stepsMs?: number[]
}

interface Process {
  id: number
  limiter: Limiter
  list: MeterList
  listOfSuccessor: MeterList | null
  isKilled: boolean
  pausedUntil: number
}

export class LimiterModel {
  now = 0
  readonly admissions: Admission[] = []
  readonly decisions = { passed: 0, over: 0, unavailable: 0 }
  /** Requests that were not decided at once. */
  waited = 0
  statements = 0
  #options: ModelOptions
  #random: () => number
  #ledger = new Ledger()
  /** How far the clock of Postgres is from the true time. */
  #offsetMs = Date.UTC(2030, 0, 1)
  #events: { at: number; run: () => void }[] = []
  #processes: Process[] = []
  #born = 0

  constructor(options: ModelOptions) {
    this.#options = options
    this.#random = seededRandom(options.seed)
  }

  run(): void {
    const { processes, forMs, stepsMs = [] } = this.#options
    for (let n = 0; n < processes; n++) this.#processes.push(this.#start())
    for (const stepMs of stepsMs) {
      this.#at(this.#random() * forMs, () => (this.#offsetMs += stepMs))
    }
    this.#nextRequest()
    for (let second = 0; second * 1000 < forMs; second++) {
      this.#at(second * 1000, () => this.#disturb())
    }
    for (;;) {
      const event = this.#events.shift()
      if (event === undefined || event.at > forMs + 5000) return
      this.now = Math.max(this.now, event.at)
      event.run()
    }
  }

  /** The most that were admitted in one window, by one process where it is given. */
  most(windowMs: number, process?: number): number {
    const times = this.admissions
      .filter((admission) => process === undefined || admission.process === process)
      .map(({ at }) => at)
    let most = 0
    let first = 0
    for (const [last, at] of times.entries()) {
      while ((times[first] as number) <= at - windowMs) first++
      most = Math.max(most, last - first + 1)
    }
    return most
  }

  /**
   * The most that were in one window when the successor was admitted: of one process with both keys,
   * and of all processes with the successor.
   */
  mostOfSuccessor(windowMs: number): { ofOneProcess: number; ofAll: number } {
    let [ofOneProcess, ofAll] = [0, 0]
    let first = 0
    for (const [last, { at, process, isOfSuccessor }] of this.admissions.entries()) {
      while ((this.admissions[first] as Admission).at <= at - windowMs) first++
      if (!isOfSuccessor) continue
      const inWindow = this.admissions.slice(first, last + 1)
      const here = inWindow.filter((admission) => admission.process === process)
      const successors = inWindow.filter((admission) => admission.isOfSuccessor)
      ofOneProcess = Math.max(ofOneProcess, here.length)
      ofAll = Math.max(ofAll, successors.length)
    }
    return { ofOneProcess, ofAll }
  }

  get processIds(): number[] {
    return [...new Set(this.admissions.map(({ process }) => process))]
  }

  #start(): Process {
    const id = ++this.#born
    const skewMs = this.#random() * 1e9
    let holders = 0
    const limiter = new Limiter({
      now: () => this.now + skewMs,
      schedule: (run) => this.#in(process, 0.1, run),
      newHolder: () => `${id}-${++holders}`,
      send: (batch, done) => {
        this.statements++
        // On the way, in Postgres, on the way back.
        this.#after(this.#delay(), () => {
          const answer = this.#ledger.take(batch, this.now + this.#offsetMs)
          const isLost = this.#random() < (this.#options.lostShare ?? 0)
          if (isLost) this.#in(process, 2000, () => done(new Error('no answer')))
          else this.#in(process, this.#delay(), () => done(answer))
        })
      },
    })
    const listOf = ({ rules, quota = null }: KeyOfModel) => limiter.listOf(rules, quota)!
    const { successor } = this.#options
    const list = listOf(this.#options)
    const listOfSuccessor = successor ? listOf(successor) : null
    const process: Process = {
      id,
      limiter,
      list,
      listOfSuccessor,
      isKilled: false,
      pausedUntil: 0,
    }
    const sweep = (): void => {
      limiter.sweep()
      this.#in(process, 1000, sweep)
    }
    this.#in(process, 1000, sweep)
    return process
  }

  /** Requests come in bursts, and mostly to one process for a while. */
  #nextRequest(): void {
    const { forMs, everyMs, cost = 1, isSteady = false } = this.#options
    const burst = !isSteady && this.#random() < 0.1 ? 1 + Math.floor(this.#random() * 30) : 1
    const index = Math.floor(this.#random() ** 2 * this.#processes.length)
    const process = this.#processes[index] as Process
    for (let n = 0; n < burst; n++) this.#in(process, this.#random(), () => this.ask(process, cost))
    const waitMs = -Math.log(1 - this.#random()) * everyMs * burst
    if (this.now + waitMs < forMs) this.#after(waitMs, () => this.#nextRequest())
  }

  ask(process: Process, cost: number): void {
    const { listOfSuccessor } = process
    const isOfSuccessor = listOfSuccessor !== null && this.#random() < 0.5
    const list = isOfSuccessor ? listOfSuccessor : process.list
    const record = (decision: LimitDecision): void => {
      if (decision === 'passed') {
        this.decisions.passed++
        this.admissions.push({ at: this.now, process: process.id, isOfSuccessor })
      } else if (decision === 'unavailable') this.decisions.unavailable++
      else this.decisions.over++
    }
    const decision = process.limiter.take(list, cost)
    if (decision !== null) return record(decision)
    this.waited++
    process.limiter.wait(list, cost, record)
  }

  #disturb(): void {
    const { killsPerSecond = 0, pausesPerSecond = 0 } = this.#options
    const index = Math.floor(this.#random() * this.#processes.length)
    const process = this.#processes[index] as Process
    if (this.#random() < killsPerSecond) {
      process.isKilled = true
      this.#processes[index] = this.#start()
    } else if (this.#random() < pausesPerSecond) {
      process.pausedUntil = this.now + this.#random() * 3000
    }
  }

  #delay(): number {
    const { delayMs = 3 } = this.#options
    return this.#random() ** 4 * delayMs
  }

  /** In a process: not once it is killed, and later where it is paused. */
  #in(process: Process, ms: number, run: () => void): void {
    this.#after(ms, () => {
      if (process.isKilled) return
      if (process.pausedUntil > this.now) this.#in(process, process.pausedUntil - this.now, run)
      else run()
    })
  }

  #after(ms: number, run: () => void): void {
    this.#at(this.now + ms, run)
  }

  #at(at: number, run: () => void): void {
    let [low, high] = [0, this.#events.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#events[middle] as { at: number }).at <= at) low = middle + 1
      else high = middle
    }
    this.#events.splice(low, 0, { at, run })
  }
}
