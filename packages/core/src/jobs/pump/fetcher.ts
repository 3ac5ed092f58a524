/** Fetches jobs into free slots, as many of each group as its limits allow, and begins them. */
import type { Db } from '../../postgres/transaction.ts'
import type { GroupScheduler } from '../groups/group-scheduler.ts'
import type { Job, Lane } from '../job.ts'
import { fetchJobs, type ExcludedGroups } from '../pg-boss/fetch-due-jobs.ts'
import type { Attempts } from './attempts.ts'
import type { QueueTable } from '../pg-boss/queue-table.ts'
import type { FetchAhead } from './fetch-ahead.ts'
import { fetchResult, type Fetched, type FetchResult } from './fetch-result.ts'
import type { OutcomeBuffer } from './outcome-buffer.ts'
import { msUntilPoll, pollMsAfter } from './poll-interval.ts'
import type { QueuePolls } from './queue-polls.ts'
import type { Slots } from './slots.ts'

interface Parts {
  table: QueueTable
  db: Db
  polls: QueuePolls
  /** Names this process in the jobs that it claims. */
  owner: string
  /** Whether this process receives notifications. */
  isNotified: () => boolean
  slots: Slots
  fetchAhead: FetchAhead
  groups: GroupScheduler
  /** The jobs that this process has claimed and not settled. */
  held: Map<string, Job>
  attempts: Attempts
  outcomes: OutcomeBuffer
}

export const LARGEST_FETCH = 200
/** How long to wait for free slots before the next check. */
const NO_ROOM_MS = 25
const NONE_DUE: Fetched = { limit: 1, count: 0, tookMs: 0, capped: [] }
/** Outcomes that may wait to be settled while more is fetched; or the concurrency, if that is more. */
const MOST_UNSETTLED = 400

export class Fetcher {
  #parts: Parts
  #lastResult: Record<Lane, FetchResult> = { first: 'drained', retry: 'drained' }
  /** Groups whose jobs the last fetch of a lane passed over or gave back, for their limits. */
  #capped: Record<Lane, Set<string>> = { first: new Set(), retry: new Set() }
  #lastJobAt = performance.now()
  /** Whether a lane has no reason to expect jobs: then a poll comes before the next fetch. */
  #isPolled: Record<Lane, boolean> = { first: false, retry: false }

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** How long no job has come. */
  get idleMs(): number {
    return performance.now() - this.#lastJobAt
  }

  /** The lane may have jobs by now. */
  expect(lane: Lane): void {
    this.#isPolled[lane] = false
  }

  /** Whether the last fetch of a lane may have left jobs that are due. */
  hasMore(lane: Lane): boolean {
    return this.#lastResult[lane] !== 'drained'
  }

  /** Whether there may be jobs that only wait for a slot of the lane, not for one of their group. */
  needsRoom(lane: Lane): boolean {
    return this.#lastResult[lane] === 'no room' || this.#lastResult[lane] === 'full'
  }

  /** Whether a fetch may bring jobs now that an attempt has ended: one of this group, if it has one. */
  mayBringMore(lane: Lane, ended: string | null): boolean {
    if (this.needsRoom(lane)) return true
    const { groups } = this.#parts
    return ended !== null && this.#capped[lane].has(ended) && !groups.isCircuitOpen(ended)
  }

  /** Slots of a lane that are worth a fetch. */
  room(lane: Lane): number {
    if (this.hasTooManyUnsettled()) return 0
    const { slots, groups, fetchAhead } = this.#parts
    // Attempts of one group may be quick while those of another are slow.
    return slots.room(lane, groups.exist ? 0 : fetchAhead.count(), performance.now())
  }

  /** Whether too many outcomes wait to be settled. */
  hasTooManyUnsettled(): boolean {
    const { outcomes, slots } = this.#parts
    return outcomes.fresh > Math.max(slots.concurrency, MOST_UNSETTLED)
  }

  /** Fetches what a lane has room for. Returns how long to wait before the next time. */
  async fill(lane: Lane, after: (fetched: Fetched) => void): Promise<number> {
    const { polls, table, isNotified } = this.#parts
    const mayFetch = !this.#isPolled[lane] || (await polls.isDue(table.queue, lane))
    // A wake during the fetch is for the next one.
    this.#isPolled[lane] = true
    const first = mayFetch ? await this.#fetchAllowed(lane, false) : NONE_DUE
    after(first)
    const result = fetchResult(first)
    this.#lastResult[lane] = result
    if (result !== 'drained') this.#isPolled[lane] = false
    if (result === 'no room') return NO_ROOM_MS
    if (result === 'full') return 0
    if (result === 'capped') {
      // The queue has no other jobs: a slow group may have more slots.
      const second = await this.#fetchAllowed(lane, true)
      after(second)
      if (fetchResult(second) === 'full') {
        this.#lastResult[lane] = 'full'
        return 0
      }
    }
    return msUntilPoll(pollMsAfter(this.idleMs, lane, isNotified()), performance.now())
  }

  async fetch(lane: Lane, limit: number, excluded: ExcludedGroups) {
    const { db, groups, owner, slots, table } = this.#parts
    const startedAt = performance.now()
    slots.reserve(lane, limit)
    let jobs: Job[] = []
    try {
      jobs = await fetchJobs(db, table, { limit, lane, excluded, owner })
    } finally {
      slots.release(lane, limit - jobs.length)
    }
    groups.fetched(jobs, excluded)
    const now = performance.now()
    const tookMs = now - startedAt
    slots.refilled(lane, tookMs, now)
    return { jobs, tookMs }
  }

  /**
   * Begins those jobs that the limits of their groups admit now: a fetch and a publish claim jobs without
   * a count for each group. A job whose group has no slot left goes back at once. No attempt is used up.
   */
  admitAndBegin(lane: Lane, jobs: Job[], uncontended: boolean): void {
    if (jobs.length === 0) return
    const { attempts, groups, held, outcomes, slots } = this.#parts
    this.#lastJobAt = performance.now()
    for (const job of jobs) held.set(job.id, job)
    const admitted = jobs.filter((job) => {
      if (groups.admit(job.group, lane, uncontended)) return true
      slots.release(lane, 1)
      if (job.group !== null) this.#capped[lane].add(job.group)
      outcomes.add({ job, outcome: { kind: 'postponed', delayMs: 0 } })
      return false
    })
    attempts.begin(lane, admitted)
  }

  /**
   * Begins jobs that have been counted for their groups already: their claim was within the limits of
   * the group, or needs none, as that of a probe.
   */
  beginAdmitted(lane: Lane, jobs: Job[]): void {
    if (jobs.length === 0) return
    this.#lastJobAt = performance.now()
    const { attempts, held } = this.#parts
    for (const job of jobs) held.set(job.id, job)
    attempts.begin(lane, jobs)
  }

  async #fetchAllowed(lane: Lane, uncontended: boolean): Promise<Fetched> {
    const room = Math.min(this.room(lane), LARGEST_FETCH)
    const { limit, excluded, capped } = this.#parts.groups.allow(lane, room, uncontended)
    if (limit === 0) return { limit, count: 0, tookMs: 0, capped }
    const { jobs, tookMs } = await this.fetch(lane, limit, excluded)
    this.#capped[lane] = new Set(capped)
    this.admitAndBegin(lane, jobs, uncontended)
    return { limit, count: jobs.length, tookMs, capped }
  }
}
