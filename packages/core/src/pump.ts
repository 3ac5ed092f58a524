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
import { setBack } from './job-table.ts'
import { Lanes } from './lanes.ts'
import { Pace, pollMsAfter, RESTS_AFTER_MS } from './pace.ts'
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
/** A fetch of the slow lane that takes longer walks along backlogs that it may not touch: it rests. */
const LONG_FETCH_MS = 5
/** So many times as long as it took, which leaves the fresh lane four fifths of the time. */
const REST = 4
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
  #restUntil: Record<Lane, number> = { fresh: 0, slow: 0 }
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
    this.#groups = new Groups(this.#lanes, (groups) => this.#setBack(groups))
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
      ended: (job, outcome, tookMs) => this.#ended(job, outcome, tookMs),
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
    // What was brought back stands in the slow lane, which is asked rarely by then.
    if (Date.now() - this.#lastJobAt > RESTS_AFTER_MS) this.#alarms.slow.ring()
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
    const restMs = this.#restUntil[lane] - performance.now()
    if (restMs > 0) return restMs
    const first = await this.#take(lane, false)
    this.#left[lane] = first.isFull || first.capped
    if (first.mustWait) return NO_ROOM_MS
    if (first.isFull) return 0
    // Where nobody else waits, who answers slowly may have more.
    if (first.capped && (await this.#take(lane, true)).isFull) return 0
    return pollMsAfter(Date.now() - this.#lastJobAt, lane)
  }

  /** One fetch, and what it brings on its way. */
  async #take(lane: Lane, generous: boolean) {
    const room = Math.min(this.#roomIn(lane), LARGEST_FETCH)
    const { limit, passedOver, capped } = this.#groups.allow(lane, room, generous)
    if (limit === 0 && lane === 'slow') this.#lanes.reserved = true
    if (limit === 0) return { isFull: false, capped: true, mustWait: true }
    const startedAt = performance.now()
    const jobs = await this.#fetch(lane, limit, [...passedOver, ...capped])
    const tookMs = performance.now() - startedAt
    if (lane === 'fresh') this.#groups.walked(capped, tookMs)
    else if (tookMs > LONG_FETCH_MS) this.#restUntil[lane] = performance.now() + REST * tookMs
    if (jobs.length > 0) this.#begin(lane, jobs, generous)
    // An endpoint may hang: the places of groups that answer are always kept free.
    if (lane === 'slow') {
      this.#lanes.reserved = this.#groups.exist || jobs.length > 0
      this.#ringWhereLeft()
    }
    return { isFull: jobs.length === limit, capped: capped.length > 0, mustWait: false }
  }

  /** What a group has no place for goes back at once, no attempt used up. */
  #begin(lane: Lane, jobs: Job[], generous: boolean): void {
    this.#lastJobAt = Date.now()
    const admitted = jobs.filter((job) => {
      if (this.#groups.admit(job.group, lane, generous)) return true
      this.#lanes.claim(lane, -1)
      this.#settler.add({ job, outcome: { kind: 'postponed', until: new Date() } })
      return false
    })
    if (admitted.length > 0) this.#attempts.take(lane, admitted)
  }

  async #fetch(lane: Lane, limit: number, ignoreGroups: string[]): Promise<Job[]> {
    this.#lanes.claim(lane, limit)
    let jobs: Job[] = []
    try {
      jobs = await fetchJobs(this.#boss, this.#hot, this.worker.queue, {
        limit,
        lane,
        ignoreGroups,
      })
    } finally {
      this.#lanes.claim(lane, jobs.length - limit)
    }
    return jobs
  }

  #roomIn(lane: Lane): number {
    if (this.#settler.size > Math.max(this.worker.concurrency, MOST_UNSETTLED)) return 0
    // How long a group takes says nothing about the next one's.
    return this.#lanes.room(lane, this.#groups.exist ? 0 : this.#pace.ahead())
  }

  #ended(job: Job, outcome: Outcome, tookMs: number): void {
    this.#settler.add({ job, outcome })
    this.#groups.ended(job.group, outcome, tookMs)
    this.#ringWhereLeft()
  }

  #ringWhereLeft(): void {
    for (const lane of ['fresh', 'slow'] as const) {
      if (this.#left[lane] && this.#roomIn(lane) > 0) this.#alarms[lane].ring()
    }
  }

  async #setBack(groups: string[]): Promise<boolean> {
    try {
      const hasMore = await setBack(this.#hot, this.worker.queue, groups)
      this.#alarms.slow.ring()
      return hasMore
    } catch (error) {
      this.#log.error({ err: error, queue: this.worker.queue }, 'a backlog could not be set back')
      return false
    }
  }
}
