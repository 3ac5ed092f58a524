/**
 * Fetches retries, and claims parked jobs, group by group in turns. Each has half of the room while
 * both wait.
 */
import type { GroupScheduler } from '../groups/group-scheduler.ts'
import { LANES } from '../job.ts'
import type { Fetched } from './fetch-result.ts'
import type { Fetcher } from './fetcher.ts'
import type { ParkedJobClaims } from './claim-parked-jobs.ts'
import { IDLE_AFTER_MS } from './poll-interval.ts'
import type { Slots } from './slots.ts'

interface Parts {
  fetcher: Fetcher
  groups: GroupScheduler
  parked: ParkedJobClaims
  slots: Slots
  wakeLanesWithRoom: () => void
}

/** A fetch of retries that takes longer scans backlogs of groups that it excludes. */
const LONG_FETCH_MS = 5
/** How many times its own duration such a fetch makes the next one wait. */
const PAUSE_AFTER_LONG = 4
/** How often retries are fetched while parked jobs take all the room, and there were no retries. */
const RETRIES_EVERY_MS = 50
const SHORTEST_WAIT_MS = 50

export class RetryLane {
  #parts: Parts
  /** No fetch of retries before this moment, by the monotonic clock. */
  #fetchRetriesAt = 0
  /** The next poll of retries: until then only claims of parked jobs, which cost less. */
  #pollRetriesAt = 0
  /** Whether retries may wait for lack of room: the next claim of parked jobs leaves them half of it. */
  #retriesWait = false
  /** Whether there may be more parked jobs, for which the last claim had no room. */
  #mayClaimMore = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** There may be retries to fetch, before the next poll. */
  expectRetries(): void {
    this.#pollRetriesAt = 0
  }

  /** Whether to claim parked jobs as soon as there is room. */
  get mayClaimMore(): boolean {
    return this.#mayClaimMore
  }

  /** Returns how long to wait before the next time, unless the lane is woken. */
  async refill(): Promise<number> {
    const { fetcher, groups } = this.#parts
    await groups.refresh(fetcher.idleMs > IDLE_AFTER_MS)
    const hasClaimed = await this.#claimParked()
    const pauseMs = Math.max(this.#fetchRetriesAt, this.#pollRetriesAt) - performance.now()
    const isPaused = pauseMs > 0
    const waitMs = isPaused ? pauseMs : await this.#fetchRetries()
    const needRoom = fetcher.needsRoom('retry')
    if (!isPaused && hasClaimed && !needRoom) {
      this.#fetchRetriesAt = performance.now() + RETRIES_EVERY_MS
    }
    this.#retriesWait = needRoom && performance.now() >= this.#fetchRetriesAt
    if (hasClaimed) return 0
    const claimInMs = Math.max(SHORTEST_WAIT_MS, groups.claimableInMs())
    return Math.min(waitMs, claimInMs, groups.refreshInMs())
  }

  async #fetchRetries(): Promise<number> {
    let waitMs = 0
    this.#pollRetriesAt = Infinity
    try {
      waitMs = await this.#parts.fetcher.fill('retry', (fetched) => this.#afterFetch(fetched))
    } finally {
      // Retries may have been expected meanwhile.
      if (this.#pollRetriesAt === Infinity) this.#pollRetriesAt = performance.now() + waitMs
    }
    return waitMs
  }

  #afterFetch({ limit, count, tookMs }: Fetched): void {
    const { groups, slots, wakeLanesWithRoom } = this.#parts
    // The receiver of a group may hang: then the retry lane needs its slots for the other groups.
    slots.keepForRetries(limit === 0 || count > 0 || groups.exist)
    if (limit === 0) return
    if (tookMs > LONG_FETCH_MS) {
      this.#fetchRetriesAt = performance.now() + PAUSE_AFTER_LONG * tookMs
    }
    wakeLanesWithRoom()
  }

  async #claimParked(): Promise<boolean> {
    const jobs = await this.#parts.parked.claim(this.#retriesWait)
    if (jobs === null) return false
    for (const lane of LANES) this.#parts.fetcher.beginAdmitted(lane, jobs[lane])
    this.#mayClaimMore = jobs.first.length + jobs.retry.length > 0
    return this.#mayClaimMore
  }
}
