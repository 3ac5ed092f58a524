/**
 * The loop that turns waiting jobs into attempts. pg-boss's own `work()` sleeps between fetches,
 * waits for a whole batch before the next and wakes every worker at each signal; the pump keeps a
 * window of attempts in flight, refills it as they end, and settles what ended in batches.
 */
import type pg from 'pg'
import { transaction } from './database.ts'
import { Fairness } from './fairness.ts'
import { fetchJobs, moveGroup, type Job, type Lane, type PgBoss } from './queue.ts'
import { settleJobs } from './settle.ts'
import type { Outcome, Performed, Worker } from './worker.ts'

export interface PumpLog {
  error(details: object, message: string): void
}

const BATCH = 200
const POLL_BUSY_MS = 100
/** A queue that rests is asked less often: wakes come by signal, the poll is only the floor. */
const POLL_RESTING_MS = [
  { forMs: 5_000, pollMs: POLL_BUSY_MS },
  { forMs: 60_000, pollMs: 500 },
]
const POLL_IDLE_MS = 2000
const LONGEST_PAUSE_MS = 5000
/** The rest of a tripped group's fresh jobs follow the others into the slow lane so often. */
const SWEEP_TRIPPED_MS = 1000

export class Pump {
  readonly worker: Worker
  #boss: PgBoss
  #hot: pg.Pool
  #log: PumpLog
  #fairness: Fairness
  #windows: Record<Lane, number>
  #inFlight: Record<Lane, number> = { fresh: 0, slow: 0 }
  #aborts = new Map<Job, AbortController>()
  #performed: Performed[] = []
  #settling: Promise<void> | undefined
  #stopping = false
  #lastJobAt = Date.now()
  #lastSweepAt = 0
  #alarms: Record<Lane, Alarm> = { fresh: new Alarm(), slow: new Alarm() }
  #loops: Promise<void>[] = []

  constructor(worker: Worker, boss: PgBoss, hot: pg.Pool, log: PumpLog) {
    this.worker = worker
    this.#boss = boss
    this.#hot = hot
    this.#log = log
    // With a window of one both lanes take turns in it.
    const slow = Math.max(1, Math.floor(worker.concurrency / 4))
    this.#windows = { fresh: Math.max(1, worker.concurrency - slow), slow }
    this.#fairness = new Fairness({
      perGroup: Math.max(1, Math.floor(worker.concurrency / 4)),
      perTrippedGroup: Math.max(1, Math.floor(slow / 8)),
      failuresToTrip: 10,
    })
  }

  start(): void {
    this.#loops = [this.#run('fresh'), this.#run('slow')]
  }

  /** There may be jobs: look now. */
  wake(): void {
    this.#alarms.fresh.ring()
  }

  /**
   * Fetches no more, gives what is in flight `drainSeconds` to end, aborts the rest and puts it
   * back for another process, no attempt used up.
   */
  async stop(): Promise<void> {
    this.#stopping = true
    for (const alarm of Object.values(this.#alarms)) alarm.ring()
    await Promise.all(this.#loops)
    await this.#idle((this.worker.drainSeconds ?? 10) * 1000)
    const left = [...this.#aborts]
    for (const [job, abort] of left) {
      this.#end(job, { kind: 'postponed', until: new Date() })
      abort.abort(new Error('the process closes'))
    }
    await this.#idle(LONGEST_PAUSE_MS)
  }

  async #run(lane: Lane): Promise<void> {
    let failures = 0
    while (!this.#stopping) {
      try {
        await this.#refill(lane)
        failures = 0
      } catch (error) {
        this.#log.error({ err: error, queue: this.worker.queue }, 'jobs could not be fetched')
        await this.#alarms[lane].wait(Math.min(LONGEST_PAUSE_MS, POLL_BUSY_MS * 2 ** failures++))
      }
    }
  }

  /** Fetches what the lane has room for, and waits: for room, for a wake, or for the next poll. */
  async #refill(lane: Lane): Promise<void> {
    const room = this.#roomIn(lane)
    // A quarter at least, so that a fetch brings a batch and not a trickle.
    if (room < Math.ceil(this.#windows[lane] / 4)) {
      await this.#alarms[lane].wait(POLL_BUSY_MS)
      return
    }
    if (lane === 'fresh') await this.#sweepTripped()
    const limit = Math.min(room, BATCH)
    this.#inFlight[lane] += limit
    const jobs: Job[] = []
    try {
      jobs.push(
        ...(await fetchJobs<Job['data']>(this.#boss, this.#hot, this.worker.queue, {
          limit,
          lane,
          ignoreGroups: this.#fairness.passedOver(lane),
        })),
      )
    } finally {
      this.#inFlight[lane] -= limit - jobs.length
    }
    if (jobs.length > 0) {
      this.#lastJobAt = Date.now()
      void this.#attempt(lane, jobs)
    }
    if (jobs.length < limit) await this.#alarms[lane].wait(this.#pollMs())
  }

  #roomIn(lane: Lane): number {
    const unsettled = this.#performed.length
    if (unsettled > this.worker.concurrency) return 0
    const inFlight = this.#inFlight.fresh + this.#inFlight.slow
    return Math.min(this.#windows[lane] - this.#inFlight[lane], this.worker.concurrency - inFlight)
  }

  #pollMs(): number {
    const restingMs = Date.now() - this.#lastJobAt
    return POLL_RESTING_MS.find(({ forMs }) => restingMs < forMs)?.pollMs ?? POLL_IDLE_MS
  }

  async #attempt(lane: Lane, jobs: Job[]): Promise<void> {
    for (const job of jobs) {
      this.#aborts.set(job, new AbortController())
      this.#fairness.started(job.group)
    }
    let prepared: ((job: Job) => unknown) | undefined
    try {
      prepared = await this.worker.prepare(this.#hot, jobs)
    } catch (error) {
      this.#log.error({ err: error, queue: this.worker.queue }, 'jobs could not be prepared')
    }
    for (const job of jobs) {
      const ended = prepared
        ? this.#perform(job, prepared)
        : Promise.resolve<Outcome>({ kind: 'postponed', until: soon() })
      void ended.then((outcome) => {
        this.#inFlight[lane]--
        this.#end(job, outcome)
        this.#alarms[lane].ringWhen(this.#roomIn(lane) >= this.#windows[lane] / 4)
      })
    }
  }

  async #perform(job: Job, prepared: (job: Job) => unknown): Promise<Outcome> {
    const abort = this.#aborts.get(job)
    try {
      // A process that closes while it prepares puts its jobs back: no attempt begins any more.
      if (!abort) return { kind: 'postponed', until: new Date() }
      return await this.worker.perform(job, prepared(job), abort.signal)
    } catch (error) {
      this.#log.error({ err: error, queue: this.worker.queue, jobId: job.id }, 'a job failed')
      return { kind: 'failed', output: { message: String((error as Error)?.message ?? error) } }
    }
  }

  #end(job: Job, outcome: Outcome): void {
    // Whoever comes second (the attempt, or the end of the drain) is too late.
    if (!this.#aborts.delete(job)) return
    this.#performed.push({ job, outcome })
    const change = this.#fairness.ended(job.group, successOf(outcome))
    if (change && job.group) void this.#move(job.group, change === 'tripped' ? 'slow' : 'fresh')
    this.#settling ??= this.#settle().finally(() => {
      this.#settling = undefined
    })
  }

  async #move(group: string, lane: Lane): Promise<void> {
    try {
      await moveGroup(this.#hot, this.worker.queue, group, lane)
    } catch (error) {
      this.#log.error({ err: error, queue: this.worker.queue }, 'a group could not change lanes')
    }
  }

  async #sweepTripped(): Promise<void> {
    const tripped = this.#fairness.tripped()
    if (tripped.length === 0 || Date.now() - this.#lastSweepAt < SWEEP_TRIPPED_MS) return
    this.#lastSweepAt = Date.now()
    for (const group of tripped) await this.#move(group, 'slow')
  }

  /** Until nothing is left to settle. What Postgres refuses is tried again: an outcome is never dropped. */
  async #settle(): Promise<void> {
    let failures = 0
    while (this.#performed.length > 0) {
      // Outcomes of the same moment share a transaction.
      await new Promise(setImmediate)
      const batch = this.#performed.splice(0, BATCH)
      try {
        await transaction(this.#hot, (db) => settleJobs(this.#boss, db, this.worker, batch))
        failures = 0
      } catch (error) {
        this.#log.error({ err: error, queue: this.worker.queue }, 'jobs could not be settled')
        this.#performed.unshift(...batch)
        if (this.#stopping && failures > 3) return
        await pause(Math.min(LONGEST_PAUSE_MS, POLL_BUSY_MS * 2 ** failures++))
      }
    }
    this.#alarms.fresh.ring()
  }

  /** Waits until nothing is in flight and all is settled, or the time is up. */
  async #idle(withinMs: number): Promise<void> {
    const deadline = Date.now() + withinMs
    while (Date.now() < deadline) {
      if (this.#settling) await Promise.race([this.#settling, pause(deadline - Date.now())])
      else if (this.#aborts.size === 0) return
      else await pause(10)
    }
  }
}

/** `null`: says nothing about the endpoint. */
function successOf(outcome: Outcome): boolean | null {
  if (outcome.kind === 'done') return true
  return outcome.kind === 'failed' || outcome.kind === 'dead' ? false : null
}

const soon = () => new Date(Date.now() + 1000)

const pause = (ms: number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, Math.max(0, ms))
  })

/** A wait that can be cut short; a ring that nobody waits for is heard by the next who does. */
class Alarm {
  #rung = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#rung = true
    this.#wake?.()
  }

  ringWhen(condition: boolean): void {
    if (condition) this.ring()
  }

  async wait(ms: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#wake = undefined
    }
    this.#rung = false
  }
}
