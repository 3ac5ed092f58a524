/**
 * The loop that turns waiting jobs into attempts. pg-boss's own `work()` sleeps between fetches,
 * waits for a whole batch before the next and wakes every worker at each signal; the pump keeps a
 * window of attempts in flight, refills it as they end, and settles what ended in batches.
 */
import { Alarm } from './alarm.ts'
import { Attempts } from './attempts.ts'
import { Groups } from './groups.ts'
import type { Hot } from './hot.ts'
import type { Job, Lane } from './job.ts'
import { moveGroups } from './job-table.ts'
import { Lanes } from './lanes.ts'
import { Pace, pollMsAfter } from './pace.ts'
import { fetchJobs, type PgBoss } from './queue.ts'
import { settleJobs } from './settle.ts'
import { Settler } from './settler.ts'
import type { Outcome, Worker } from './worker.ts'

export interface PumpLog {
  error(details: object, message: string): void
  info(details: object, message: string): void
}

const LARGEST_FETCH = 200
/** Outcomes that wait to be settled, beyond which nothing is fetched; or the concurrency, if that is more. */
const MOST_UNSETTLED = 400
/** How long to wait for room before another look at it. */
const NO_ROOM_MS = 100
const LONGEST_PAUSE_MS = 5000
const DRAIN_SECONDS = 10

export class Pump {
  readonly worker: Worker
  #boss: PgBoss
  #hot: Hot
  #log: PumpLog
  #lanes: Lanes
  #pace: Pace
  #groups: Groups
  #attempts: Attempts
  #settler: Settler
  #alarms: Record<Lane, Alarm>
  /** Whether the last look into a lane left jobs for lack of room. */
  #left: Record<Lane, boolean> = { fresh: false, slow: false }
  #lastJobAt = Date.now()
  #loops: Promise<void>[] = []
  #stopping = false

  constructor(worker: Worker, boss: PgBoss, hot: Hot, log: PumpLog) {
    this.worker = worker
    this.#boss = boss
    this.#hot = hot
    this.#log = log
    this.#lanes = new Lanes(worker.concurrency)
    this.#pace = new Pace(worker.concurrency)
    this.#groups = new Groups(this.#lanes, (groups, lane) => this.#move(groups, lane))
    this.#settler = new Settler({
      settle: (batch) => settleJobs(boss, hot, worker, batch),
      settled: () => this.#ringWhereLeft(),
      log,
    })
    this.#attempts = new Attempts({
      worker,
      hot,
      lanes: this.#lanes,
      pace: this.#pace,
      log,
      ended: (job, outcome) => this.#ended(job, outcome),
    })
    const fresh = new Alarm()
    this.#alarms = { fresh, slow: worker.concurrency === 1 ? fresh : new Alarm() }
  }

  start(): void {
    // One attempt at a time: the lanes take turns. Else neither waits for the other's fetch.
    const loops: Lane[][] =
      this.worker.concurrency === 1 ? [['fresh', 'slow']] : [['fresh'], ['slow']]
    this.#loops = loops.map((lanes) => this.#run(lanes))
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
    this.#alarms.fresh.ring()
    this.#alarms.slow.ring()
    await Promise.all(this.#loops)
    await this.#attempts.stop((this.worker.drainSeconds ?? DRAIN_SECONDS) * 1000)
    await this.#groups.stop()
    await this.#settler.close()
  }

  async #run(lanes: Lane[]): Promise<void> {
    const alarm = this.#alarms[lanes[0] ?? 'fresh']
    let failures = 0
    while (!this.#stopping) {
      try {
        let waitMs = Infinity
        for (const lane of lanes) waitMs = Math.min(waitMs, await this.#refill(lane))
        lanes.reverse()
        if (failures > 0) this.#log.info({ queue: this.worker.queue }, 'jobs are fetched again')
        failures = 0
        if (waitMs > 0) await alarm.wait(waitMs)
      } catch (error) {
        const about = { err: error, queue: this.worker.queue }
        if (failures === 0) this.#log.error(about, 'jobs could not be fetched')
        const pauseMs = NO_ROOM_MS * 2 ** Math.min(failures++, 10)
        await alarm.wait(Math.min(LONGEST_PAUSE_MS, pauseMs))
      }
    }
  }

  /** Fetches what the lane has room for. Returns how long to wait, if nothing rings, before the next. */
  async #refill(lane: Lane): Promise<number> {
    const room = this.#roomIn(lane)
    if (room === 0) {
      this.#left[lane] = true
      return NO_ROOM_MS
    }
    const { names, capped } = this.#groups.passedOver(lane)
    const limit = Math.min(room, LARGEST_FETCH, this.#groups.portion)
    this.#lanes.claim(lane, limit)
    let jobs: Job[] = []
    try {
      const wanted = { limit, lane, ignoreGroups: names }
      jobs = await fetchJobs(this.#boss, this.#hot, this.worker.queue, wanted)
    } finally {
      this.#lanes.claim(lane, jobs.length - limit)
    }
    const isFull = jobs.length === limit
    this.#left[lane] = isFull || capped
    if (jobs.length > 0) {
      this.#lastJobAt = Date.now()
      for (const { group } of jobs) this.#groups.started(group)
      this.#attempts.take(lane, jobs)
    }
    return isFull ? 0 : pollMsAfter(Date.now() - this.#lastJobAt)
  }

  #roomIn(lane: Lane): number {
    if (this.#settler.size > Math.max(this.worker.concurrency, MOST_UNSETTLED)) return 0
    // How long a group takes says nothing about the next one's.
    return this.#lanes.room(lane, this.#groups.exist ? 0 : this.#pace.ahead())
  }

  #ended(job: Job, outcome: Outcome): void {
    this.#settler.add({ job, outcome })
    this.#groups.ended(job.group, outcome)
    this.#ringWhereLeft()
  }

  #ringWhereLeft(): void {
    for (const lane of ['fresh', 'slow'] as const) {
      if (this.#left[lane] && this.#roomIn(lane) > 0) this.#alarms[lane].ring()
    }
  }

  async #move(groups: string[], lane: Lane): Promise<void> {
    try {
      await moveGroups(this.#hot, this.worker.queue, groups, lane)
      this.#alarms[lane].ring()
    } catch (error) {
      this.#log.error({ err: error, queue: this.worker.queue }, 'groups could not change lanes')
    }
  }
}
