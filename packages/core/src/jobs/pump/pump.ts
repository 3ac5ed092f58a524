/**
 * The loop that turns waiting jobs into attempts. pg-boss's own `work()` sleeps between fetches,
 * waits for a whole batch before the next and wakes every worker at each signal; the pump keeps a
 * window of attempts in flight, refills it as they end, and settles what ended in batches.
 */
import { Alarm } from './wakeable-sleep.ts'
import { Attempts } from './attempts.ts'
import type { Database } from '../../postgres/pools.ts'
import { GroupScheduler } from '../groups/group-scheduler.ts'
import type { Job, Lane } from '../job.ts'
import { Heartbeats } from './heartbeats.ts'
import { Lanes } from './slots.ts'
import { Pace, pollMsAfter, RESTS_AFTER_MS } from './poll-interval.ts'
import { ParkedClaims } from './parked-claims.ts'
import { fetchJobs, type PgBoss } from '../pg-boss/boss.ts'
import { settleJobs } from './settle-batch.ts'
import { Settler } from './outcome-buffer.ts'
import type { Outcome, Worker } from '../worker.ts'

export interface PumpLog {
  error(details: object, message: string): void
  info(details: object, message: string): void
}

const LARGEST_FETCH = 200
/** Outcomes that may wait to be settled while more is fetched; or the concurrency, if that is more. */
const MOST_UNSETTLED = 400
/** How long to wait for room before another look at it. */
const NO_ROOM_MS = 100
const LONGEST_PAUSE_MS = 5000
/** A fetch of the slow lane that takes longer walks along backlogs that it may not touch: it rests. */
const LONG_FETCH_MS = 5
/** So many times as long as it took. */
const REST = 4
/** A fetch that takes longer and brings little walks along the backlog of groups that it passes over. */
const LONG_WALK_MS = 40
/** How often a fetch looks past the groups that fill the lane, and how much it may bring. */
const LOOK_PAST_EVERY_MS = 25
const LOOK_PAST_FETCH = 50
/** A look past that brought nothing is repeated after so many times as long as it took. */
const LOOK_PAST_REST = 10
/** How often retries are looked for while parked jobs take all the room and none were there. */
const RETRIES_EVERY_MS = 50
const DRAIN_SECONDS = 10
const LANES = ['fresh', 'slow'] as const

export interface PumpParts {
  worker: Worker
  boss: PgBoss
  database: Pick<Database, 'workerPool' | 'background'>
  log: PumpLog
  /** The table of groups has changed: other processes read it again. */
  groupsChanged(): void
  /** A fetch failed: nothing is known of Postgres for the moment. */
  failed(): void
}

export class Pump {
  readonly worker: Worker
  #parts: PumpParts
  #lanes: Lanes
  #pace: Pace
  #groups: GroupScheduler
  #parked: ParkedClaims
  #attempts: Attempts
  #settler: Settler
  #heartbeats: Heartbeats
  #alarms: Record<Lane, Alarm>
  /** Whether the last look into a lane left jobs for lack of room. */
  #left: Record<Lane, boolean> = { fresh: false, slow: false }
  #restUntil: Record<Lane, number> = { fresh: 0, slow: 0 }
  #lookPastAt = 0
  /** Whether the last look into the slow lane left retries for lack of room. */
  #retriesWait = false
  #lastJobAt = Date.now()
  #loops: Promise<void>[] = []
  #stopping = false

  constructor(parts: PumpParts) {
    const { worker, boss, database, log } = parts
    const { workerPool } = database
    this.worker = worker
    this.#parts = parts
    this.#lanes = new Lanes(worker.concurrency)
    this.#pace = new Pace(worker.concurrency)
    this.#groups = new GroupScheduler({
      queue: worker.queue,
      windows: this.#lanes.windows,
      database,
      log,
      changed: () => parts.groupsChanged(),
      wake: () => this.#alarms.slow.ring(),
    })
    this.#parked = new ParkedClaims({
      lanes: this.#lanes,
      groups: this.#groups,
      largest: LARGEST_FETCH,
      roomInSlow: () => this.#roomIn('slow'),
      freshWaits: () => this.#left.fresh || worker.concurrency === 1,
    })
    this.#heartbeats = new Heartbeats(workerPool, worker.queue, log)
    this.#settler = new Settler({
      settle: (batch) => settleJobs(boss, workerPool, worker, batch),
      settled: () => this.#ringWhereLeft(),
      forget: (jobs) => this.#heartbeats.forget(jobs),
      log,
    })
    this.#attempts = new Attempts({
      worker,
      workerPool,
      lanes: this.#lanes,
      pace: this.#pace,
      log,
      ended: (job, outcome, tookMs) => this.#ended(job, outcome, tookMs),
    })
    const slow = new Alarm()
    this.#alarms = { fresh: worker.concurrency === 1 ? slow : new Alarm(), slow }
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

  /** The table of groups has changed. */
  groupsChanged(): void {
    this.#groups.stale()
  }

  /**
   * Fetches no more, gives what is in flight `drainSeconds` to end, aborts the rest and puts it
   * back for another process, no attempt used up.
   */
  async stop(): Promise<void> {
    this.#stopping = true
    for (const lane of LANES) this.#alarms[lane].ring()
    await Promise.all(this.#loops)
    await this.#attempts.stop((this.worker.drainSeconds ?? DRAIN_SECONDS) * 1000)
    await this.#groups.stop()
    await this.#settler.close()
    await this.#heartbeats.stop()
  }

  async #run(lanes: Lane[]): Promise<void> {
    const { log } = this.#parts
    const alarm = this.#alarms[lanes[0] ?? 'fresh']
    let failures = 0
    while (!this.#stopping) {
      try {
        let waitMs = Infinity
        for (const lane of lanes) waitMs = Math.min(waitMs, await this.#refill[lane]())
        lanes.reverse()
        if (failures > 0) log.info({ queue: this.worker.queue }, 'jobs are fetched again')
        failures = 0
        if (waitMs > 0) await alarm.wait(waitMs)
      } catch (error) {
        this.#parts.failed()
        const about = { err: error, queue: this.worker.queue }
        if (failures === 0) log.error(about, 'jobs could not be fetched')
        const pauseMs = NO_ROOM_MS * 2 ** Math.min(failures++, 10)
        await alarm.wait(Math.min(LONGEST_PAUSE_MS, pauseMs))
      }
    }
  }

  /** Fetch what a lane has room for. Return how long to wait, if nothing rings, before the next. */
  #refill: Record<Lane, () => Promise<number>> = {
    fresh: () => this.#refillFresh(),
    slow: () => this.#refillSlow(),
  }

  async #refillFresh(): Promise<number> {
    await this.#lookPast()
    const waitMs = await this.#refillFrom('fresh')
    return this.#groups.dominant('fresh').length > 0 ? Math.min(waitMs, LOOK_PAST_EVERY_MS) : waitMs
  }

  /** Retries, and parked jobs of groups in turns. Each has half of the room while both wait. */
  async #refillSlow(): Promise<number> {
    await this.#groups.refresh()
    const claimed = await this.#claimParked()
    const restMs = this.#restUntil.slow - performance.now()
    const waitMs = restMs > 0 ? restMs : await this.#refillFrom('slow')
    // Without retries the parked jobs need no turn in between.
    if (restMs <= 0 && waitMs > 0 && claimed > 0) {
      this.#restUntil.slow = performance.now() + RETRIES_EVERY_MS
    }
    this.#retriesWait = waitMs === 0
    if (claimed > 0) this.#left.slow = true
    return claimed > 0 ? 0 : Math.min(waitMs, Math.max(50, this.#groups.claimableInMs()))
  }

  async #refillFrom(lane: Lane): Promise<number> {
    const first = await this.#take(lane, false)
    this.#left[lane] = first.isFull || first.isCapped
    if (first.mustWait) return NO_ROOM_MS
    if (first.isFull) return 0
    // Where nothing else waits, a slow group may have more.
    if (first.isCapped && (await this.#take(lane, true)).isFull) return 0
    return pollMsAfter(Date.now() - this.#lastJobAt, lane)
  }

  /** One fetch, and what it brings on its way. */
  async #take(lane: Lane, uncontended: boolean) {
    const room = Math.min(this.#roomIn(lane), LARGEST_FETCH)
    const { limit, passedOver, capped } = this.#groups.allow(lane, room, uncontended)
    if (limit === 0 && lane === 'slow') this.#lanes.reserved = true
    if (limit === 0) return { isFull: false, isCapped: true, mustWait: true }
    const { jobs, tookMs } = await this.#fetch(lane, limit, passedOver)
    const isFull = jobs.length === limit
    if (lane === 'fresh' && !isFull && tookMs > LONG_WALK_MS) this.#groups.park(capped)
    if (lane === 'slow' && tookMs > LONG_FETCH_MS) {
      this.#restUntil.slow = performance.now() + REST * tookMs
    }
    if (jobs.length > 0) this.#begin(lane, jobs, uncontended)
    // An endpoint may hang: the places of groups that answer are always kept free.
    if (lane === 'slow') {
      this.#lanes.reserved = this.#groups.exist || jobs.length > 0
      this.#ringWhereLeft()
    }
    return { isFull, isCapped: capped.length > 0, mustWait: false }
  }

  /**
   * A quick group's backlog is fetched oldest first: jobs of others wait behind it. A short fetch
   * passes over it now and then, and where that walk is long the backlog is parked.
   */
  async #lookPast(): Promise<void> {
    if (performance.now() < this.#lookPastAt) return
    const dominant = this.#groups.dominant('fresh')
    const room = this.#lanes.places('fresh')
    if (dominant.length === 0 || room < 1 || this.#isBehind()) return
    const { passedOver } = this.#groups.allow('fresh', room, false)
    const limit = Math.min(room, LOOK_PAST_FETCH)
    const others = [...new Set([...passedOver, ...dominant])]
    const { jobs, tookMs } = await this.#fetch('fresh', limit, others)
    const restMs = (jobs.length > 0 ? REST : LOOK_PAST_REST) * tookMs
    this.#lookPastAt = performance.now() + Math.max(LOOK_PAST_EVERY_MS, restMs)
    if (jobs.length > 0) this.#begin('fresh', jobs, false)
    if (jobs.length > 0 && jobs.length < limit && tookMs > LONG_WALK_MS) this.#groups.park(dominant)
  }

  async #claimParked(): Promise<number> {
    const jobs = await this.#parked.claim(this.#retriesWait)
    const count = jobs.slow.length + jobs.fresh.length
    if (count > 0) this.#lastJobAt = Date.now()
    for (const lane of LANES) {
      this.#heartbeats.add(jobs[lane])
      this.#attempts.take(lane, jobs[lane])
    }
    return count
  }

  /** What a group has no place for goes back at once, no attempt used up. */
  #begin(lane: Lane, jobs: Job[], uncontended: boolean): void {
    this.#lastJobAt = Date.now()
    this.#heartbeats.add(jobs)
    const admitted = jobs.filter((job) => {
      if (this.#groups.admit(job.group, lane, uncontended)) return true
      this.#lanes.claim(lane, -1)
      this.#settler.add({ job, outcome: { kind: 'postponed', delayMs: 0 } })
      return false
    })
    if (admitted.length > 0) this.#attempts.take(lane, admitted)
  }

  async #fetch(lane: Lane, limit: number, ignoreGroups: string[]) {
    const { boss, database } = this.#parts
    const startedAt = performance.now()
    this.#lanes.claim(lane, limit)
    let jobs: Job[] = []
    try {
      jobs = await fetchJobs(boss, database.workerPool, this.worker.queue, {
        limit,
        lane,
        ignoreGroups,
      })
    } finally {
      this.#lanes.claim(lane, jobs.length - limit)
    }
    return { jobs, tookMs: performance.now() - startedAt }
  }

  /** Whether more outcomes wait to be settled than should. */
  #isBehind(): boolean {
    return this.#settler.size > Math.max(this.worker.concurrency, MOST_UNSETTLED)
  }

  #roomIn(lane: Lane): number {
    if (this.#isBehind()) return 0
    // How long a group takes says nothing about the next one's.
    return this.#lanes.room(lane, this.#groups.exist ? 0 : this.#pace.ahead())
  }

  #ended(job: Job, outcome: Outcome, tookMs: number): void {
    this.#settler.add({ job, outcome })
    this.#groups.ended(job.group, outcome, tookMs)
    this.#ringWhereLeft()
  }

  #ringWhereLeft(): void {
    for (const lane of LANES) {
      if (this.#left[lane] && this.#roomIn(lane) > 0) this.#alarms[lane].ring()
    }
  }
}
