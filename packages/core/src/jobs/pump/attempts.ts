/** The jobs that this process has claimed, from the fetch that brought them to their outcome. */
import type { Db } from '../../postgres/transaction.ts'
import type { Job, Lane } from '../job.ts'
import type { Lanes } from './slots.ts'
import type { Pace } from './poll-interval.ts'
import { prepareJobs } from './prepare-batch.ts'
import type { Outcome, Worker } from '../worker.ts'

interface Claim {
  job: Job
  lane: Lane
  at: number
  /** Set when its attempt begins. */
  abort?: AbortController
  ended: boolean
}

interface Ready {
  claim: Claim
  prepared: (job: Job) => unknown
}

interface Parts {
  worker: Worker
  workerPool: Db
  lanes: Lanes
  pace: Pace
  log: { error(details: object, message: string): void }
  /** `tookMs`: 0 where the attempt did not run to its end. */
  ended(job: Job, outcome: Outcome, tookMs: number): void
}

const LANES = ['fresh', 'slow'] as const
/** A job that was claimed ahead and has not started by then goes back, for others to claim. */
const GIVE_BACK_MS = 250
const PREPARE_AGAIN_MS = 1000

export class Attempts {
  #parts: Parts
  #ready: Record<Lane, Ready[]> = { fresh: [], slow: [] }
  #running = new Set<Claim>()
  #preparing = new Set<Promise<void>>()
  #giveBack: NodeJS.Timeout | undefined
  #stopping = false
  #idle: (() => void) | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  take(lane: Lane, jobs: Job[]): void {
    if (jobs.length === 0) return
    const claims = jobs.map((job): Claim => ({ job, lane, at: Date.now(), ended: false }))
    const taken = this.#prepare(lane, claims).finally(() => this.#preparing.delete(taken))
    this.#preparing.add(taken)
  }

  /**
   * Begins no more attempts, gives those that run so long to end, then aborts the rest; what did
   * not end goes back for another process, no attempt used up.
   */
  async stop(withinMs: number): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#giveBack)
    this.#putBack(0)
    await this.#untilIdle(withinMs)
    for (const claim of this.#running) {
      this.#end(claim, { kind: 'postponed', delayMs: 0 })
      claim.abort?.abort(new Error('the process closes'))
    }
    await Promise.all(this.#preparing)
  }

  async #prepare(lane: Lane, claims: Claim[]): Promise<void> {
    const { worker, workerPool, log } = this.#parts
    try {
      const jobs = claims.map(({ job }) => job)
      const prepared = await prepareJobs(worker, workerPool, jobs)
      this.#ready[lane].push(...claims.map((claim) => ({ claim, prepared })))
    } catch (error) {
      log.error({ err: error, queue: worker.queue }, 'jobs could not be prepared')
      for (const claim of claims) {
        this.#end(claim, { kind: 'postponed', delayMs: PREPARE_AGAIN_MS })
      }
    }
    if (this.#stopping) this.#putBack(0)
    else this.#start()
  }

  #start(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      const { claim, prepared } = next
      claim.abort = new AbortController()
      this.#running.add(claim)
      this.#parts.lanes.start(claim.lane)
      void this.#attempt(claim, claim.abort.signal, prepared)
    }
    const waits = LANES.some((lane) => this.#ready[lane].length > 0)
    if (waits) this.#giveBack ??= setTimeout(() => this.#giveBackNow(), GIVE_BACK_MS)
  }

  /** The one that has waited longest, of those whose lane has room. */
  #next(): Ready | undefined {
    let oldest: Lane | undefined
    for (const lane of LANES) {
      if (this.#ready[lane].length === 0 || !this.#parts.lanes.mayStart(lane)) continue
      if (!oldest || claimedAt(this.#ready[lane]) < claimedAt(this.#ready[oldest])) oldest = lane
    }
    return oldest && this.#ready[oldest].shift()
  }

  async #attempt(claim: Claim, signal: AbortSignal, prepared: (job: Job) => unknown) {
    const { worker, pace, log } = this.#parts
    const startedAt = performance.now()
    let outcome: Outcome
    try {
      outcome = await worker.perform(claim.job, prepared(claim.job), signal)
    } catch (error) {
      log.error({ err: error, queue: worker.queue, jobId: claim.job.id }, 'a job failed')
      outcome = { kind: 'failed', output: { message: String((error as Error)?.message ?? error) } }
    }
    const tookMs = performance.now() - startedAt
    pace.note(tookMs)
    this.#end(claim, outcome, tookMs)
  }

  #end(claim: Claim, outcome: Outcome, tookMs = 0): void {
    // Whoever comes second (the attempt, or the end of the drain) is too late.
    if (claim.ended) return
    claim.ended = true
    this.#parts.lanes.end(claim.lane, this.#running.delete(claim))
    this.#parts.ended(claim.job, outcome, tookMs)
    if (this.#parts.lanes.claimed === 0) this.#idle?.()
    if (!this.#stopping) this.#start()
  }

  #giveBackNow(): void {
    this.#giveBack = undefined
    this.#parts.pace.waited(GIVE_BACK_MS)
    this.#putBack(GIVE_BACK_MS)
    this.#start()
  }

  /** What was claimed so long ago and has not started. */
  #putBack(forMs: number): void {
    const now = Date.now()
    for (const lane of LANES) {
      const ready = this.#ready[lane]
      const firstToStay = ready.findIndex(({ claim }) => now - claim.at < forMs)
      const overdue = ready.splice(0, firstToStay === -1 ? ready.length : firstToStay)
      for (const { claim } of overdue) this.#end(claim, { kind: 'postponed', delayMs: 0 })
    }
  }

  async #untilIdle(withinMs: number): Promise<void> {
    if (this.#parts.lanes.claimed === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#idle = resolve
    const timer = setTimeout(resolve, withinMs)
    await promise
    clearTimeout(timer)
  }
}

const claimedAt = ([first]: Ready[]): number => first?.claim.at ?? Infinity
