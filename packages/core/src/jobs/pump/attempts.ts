/** The attempts of this process: from the fetch that brought a job to the outcome of its attempt. */
import { isConnectionError } from '../../postgres/connection-errors.ts'
import { splitOnError } from '../../postgres/split-batch.ts'
import { storableMessage } from '../../postgres/storable.ts'
import type { Db } from '../../postgres/transaction.ts'
import type { AttemptEnd, AttemptTelemetry } from '../../telemetry/attempt-telemetry.ts'
import { errorTypeOf } from '../../telemetry/metrics.ts'
import { Timer } from '../../time.ts'
import { LANES, type FanOutJob, type Job, type Lane } from '../job.ts'
import { BEGINS_WITHIN_MS } from '../pg-boss/claim-ordered-or-limited.ts'
import { isLastOf, unsentOutcome, type Outcome, type Worker } from '../worker.ts'
import type { FetchAhead } from './fetch-ahead.ts'
import type { OutcomeBuffer } from './outcome-buffer.ts'
import type { Slots } from './slots.ts'
import { WakeableSleep } from './wakeable-sleep.ts'

interface Attempt {
  job: Job
  lane: Lane
  prepared: (job: Job) => unknown
  fetchedAt: number
  abort: AbortController
}

interface Parts {
  worker: Worker
  db: Db
  slots: Slots
  fetchAhead: FetchAhead
  outcomes: Pick<OutcomeBuffer, 'add'>
  telemetry: AttemptTelemetry
  log: { error(details: object, message: string): void }
  /**
   * Calls a function with the values of `AsyncLocalStorage` as they were at boot. A job may begin in the
   * request that published it, or in one whose publish shared its statement: without this a handler of
   * the host would see the values of that request, such as its tenant.
   */
  asAtBoot: <T>(run: () => T) => T
  isPaused: () => boolean
  began(job: Job): void
  /** Its slot of the lane is free. `tookMs`: 0 where the attempt did not run to its end. */
  ended(job: Job, outcome: Outcome, tookMs: number): void
}

/** A job that was fetched ahead and has not started by then goes back for other processes. */
const GIVE_BACK_MS = 250
const PREPARE_AGAIN_MS = 1000

/** A permit is for an attempt that starts soon, because the start of a later one is not reported. */
const isTooLate = ({ permit }: Job, now: number): boolean =>
  permit !== undefined && permit.id !== null && now - permit.askedAt > BEGINS_WITHIN_MS

export class Attempts {
  #parts: Parts
  #waiting = new WaitingAttempts<Attempt>()
  #running = new Set<Attempt>()
  #preparing = new Set<Promise<void>>()
  #giveBackTimer = new Timer(() => {
    this.#parts.fetchAhead.waited(GIVE_BACK_MS)
    this.#giveBack(GIVE_BACK_MS)
    this.#startWaiting()
  })
  #stopping = false
  #idle = new WakeableSleep()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Prepares the jobs and starts their attempts. Their slots are reserved already. */
  begin(lane: Lane, jobs: Job[]): void {
    if (jobs.length === 0) return
    const preparing = this.#prepare(lane, jobs).finally(() => this.#preparing.delete(preparing))
    this.#preparing.add(preparing)
  }

  /**
   * Starts no more attempts, and aborts those that have not ended within `withinMs`. Their jobs go
   * back for another process. No attempt is used up.
   */
  async stop(withinMs: number): Promise<void> {
    this.#stopping = true
    this.#giveBackTimer.clear()
    this.#giveBack(0)
    if (this.#parts.slots.used > 0) await this.#idle.sleep(withinMs)
    for (const attempt of this.#running) {
      this.#end(attempt, { kind: 'postponed', delayMs: 0 }, 0)
      attempt.abort.abort(new Error('the process closes'))
    }
    await Promise.all(this.#preparing)
  }

  async #prepare(lane: Lane, jobs: Job[]): Promise<void> {
    const { worker, db, log } = this.#parts
    const fetchedAt = performance.now()
    try {
      const prepared = await prepareBatch(worker, db, jobs)
      for (const job of jobs) {
        this.#waiting.add({ job, lane, prepared, fetchedAt, abort: new AbortController() })
      }
    } catch (error) {
      log.error(
        { err: error, queue: worker.queue },
        'could not read what a batch of jobs needs; its jobs are postponed',
      )
      for (const job of jobs) this.#postpone(lane, job, PREPARE_AGAIN_MS)
    }
    if (this.#stopping) this.#giveBack(0)
    else this.#startWaiting()
  }

  #startWaiting(): void {
    const { slots } = this.#parts
    const next = () => this.#waiting.takeNext((lane) => slots.mayStart(lane))
    for (let attempt = next(); attempt; attempt = next()) {
      this.#running.add(attempt)
      slots.start(attempt.lane)
      void this.#run(attempt)
    }
    if (!this.#waiting.isEmpty) this.#giveBackTimer.set(GIVE_BACK_MS)
  }

  async #run(attempt: Attempt): Promise<void> {
    const { worker, fetchAhead, log, telemetry, asAtBoot } = this.#parts
    const { job, prepared, abort } = attempt
    const startedAt = performance.now()
    if (this.#parts.isPaused() || isTooLate(job, startedAt)) {
      return this.#end(attempt, { kind: 'postponed', delayMs: 0 }, 0)
    }
    let its: unknown
    try {
      its = prepared(job)
    } catch (error) {
      const message = 'could not read what a job needs; it is postponed'
      log.error({ err: error, queue: worker.queue, jobId: job.id }, message)
      const why = { message: String((error as Error)?.message ?? error) }
      return this.#end(attempt, unsentOutcome(job as Job<FanOutJob>, why), 0)
    }
    this.#parts.began(job)
    let outcome: Outcome
    try {
      outcome = await asAtBoot(() =>
        telemetry.isOn
          ? measured(telemetry, worker, job, its, abort.signal)
          : worker.perform(job, its, abort.signal),
      )
    } catch (error) {
      // `stop` has given it up, and its job waits again.
      if (abort.signal.aborted) return
      log.error(
        { err: error, queue: worker.queue, jobId: job.id },
        'an attempt threw an error; it counts as failed',
      )
      outcome = { kind: 'failed', output: { message: storableMessage(error) } }
    }
    const tookMs = performance.now() - startedAt
    fetchAhead.record(tookMs)
    this.#end(attempt, outcome, tookMs)
  }

  #end(attempt: Attempt, outcome: Outcome, tookMs: number): void {
    // The attempt may end after `stop` has given it up.
    if (!this.#running.delete(attempt)) return
    this.#parts.slots.end(attempt.lane)
    this.#ended(attempt.job, outcome, tookMs)
    if (!this.#stopping) this.#startWaiting()
  }

  #giveBack(waitedMs: number): void {
    for (const { lane, job } of this.#waiting.takeOverdue(performance.now() - waitedMs)) {
      this.#postpone(lane, job, 0)
    }
  }

  #postpone(lane: Lane, job: Job, delayMs: number): void {
    this.#parts.slots.release(lane, 1)
    this.#ended(job, { kind: 'postponed', delayMs }, 0)
  }

  #ended(job: Job, outcome: Outcome, tookMs: number): void {
    this.#parts.outcomes.add({ job, outcome, endedAt: performance.now() })
    this.#parts.ended(job, outcome, tookMs)
    if (this.#stopping && this.#parts.slots.used === 0) this.#idle.wake()
  }
}

export class WaitingAttempts<Attempt extends { lane: Lane; fetchedAt: number }> {
  #inLane: Record<Lane, Attempt[]> = { first: [], retry: [] }

  get isEmpty(): boolean {
    return LANES.every((lane) => this.#inLane[lane].length === 0)
  }

  add(attempt: Attempt): void {
    this.#inLane[attempt.lane].push(attempt)
  }

  /** Takes the attempt that was fetched first, of the lanes that have a free slot. */
  takeNext(mayStart: (lane: Lane) => boolean): Attempt | undefined {
    let oldest: Attempt | undefined
    for (const lane of LANES) {
      const [first] = this.#inLane[lane]
      if (!first || !mayStart(lane)) continue
      if (!oldest || first.fetchedAt < oldest.fetchedAt) oldest = first
    }
    return oldest && this.#inLane[oldest.lane].shift()
  }

  /** Takes those that were fetched at `fetchedBy` or before. */
  takeOverdue(fetchedBy: number): Attempt[] {
    return LANES.flatMap((lane) => {
      const waiting = this.#inLane[lane]
      const firstToStay = waiting.findIndex(({ fetchedAt }) => fetchedAt > fetchedBy)
      return waiting.splice(0, firstToStay === -1 ? waiting.length : firstToStay)
    })
  }
}

/**
 * Reads the data of a batch of jobs. Where one job makes that impossible, only that job fails: the
 * returned function throws for it.
 */
export async function prepareBatch<Prepared>(
  worker: Pick<Worker<unknown, Prepared>, 'prepare'>,
  db: Db,
  batch: Job[],
): Promise<(job: Job) => Prepared> {
  const { parts, failed } = await splitOnError(batch, (jobs) => worker.prepare(db, jobs))
  const [whole] = parts
  if (whole && parts.length === 1 && failed.length === 0) return whole.result
  const preparedOf = new Map<Job, (job: Job) => Prepared>()
  for (const { items, result } of parts) for (const job of items) preparedOf.set(job, result)
  for (const { items, error } of failed) {
    if (isConnectionError(error)) throw error
    for (const job of items) {
      preparedOf.set(job, () => {
        throw error
      })
    }
  }
  return (job) => (preparedOf.get(job) as (job: Job) => Prepared)(job)
}

async function measured<Data, Prepared, Detail>(
  telemetry: AttemptTelemetry,
  worker: Pick<Worker<Data, Prepared, Detail>, 'queue' | 'perform' | 'telemetry'>,
  job: Job<Data>,
  prepared: Prepared,
  signal: AbortSignal,
): Promise<Outcome<Detail>> {
  const described = worker.telemetry
  if (!described) return worker.perform(job, prepared, signal)
  const start = described.start(job, prepared)
  const attempt = telemetry.begin({ queue: worker.queue, ...start })
  job.traceContext = attempt.traceContext
  try {
    const outcome = await attempt.run(() => worker.perform(job, prepared, signal))
    const end = { outcome: nameOf(job, outcome), ...described.end(outcome) }
    attempt.end(signal.aborted ? GIVEN_UP : end)
    return outcome
  } catch (error) {
    attempt.end(signal.aborted ? GIVEN_UP : failureOf(job, error))
    throw error
  }
}

/** The process closes: the job waits for another one, and no attempt is used up. */
const GIVEN_UP: AttemptEnd = { outcome: null, error: null, durationMs: null }

function failureOf(job: Job, thrown: unknown): AttemptEnd {
  const { message } = thrown as Error
  return {
    outcome: job.attemptsLeft === 0 ? 'dead' : 'failed',
    error: { type: errorTypeOf(thrown), message, thrown },
    durationMs: null,
  }
}

function nameOf(job: Job, outcome: Outcome): AttemptEnd['outcome'] {
  switch (outcome.kind) {
    case 'failed':
      return isLastOf(job, outcome) ? 'dead' : 'failed'
    case 'rejected':
      return 'dead'
    case 'postponed':
    case 'parked':
      return null
    default:
      return outcome.kind
  }
}
