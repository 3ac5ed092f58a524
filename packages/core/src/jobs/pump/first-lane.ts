/** Fetches jobs for their first attempts. */
import type { GroupScheduler } from '../groups/group-scheduler.ts'
import type { Fetched } from './fetch-result.ts'
import type { Fetcher } from './fetcher.ts'
import type { Slots } from './slots.ts'

interface Parts {
  fetcher: Fetcher
  groups: GroupScheduler
  slots: Slots
}

/** A fetch that takes longer and is not full scans the backlog of groups that it excludes. */
const LONG_SCAN_MS = 40
/** How often a fetch excludes the dominant groups, and how much it may bring. */
const BEHIND_EVERY_MS = 25
const BEHIND_LIMIT = 50
/**
 * The pause before the next fetch, in durations of this one: after a fetch that found jobs, and
 * after an empty one.
 */
const PAUSE_AFTER_JOBS = 4
const PAUSE_AFTER_NONE = 10

export class FirstLane {
  #parts: Parts
  #fetchBehindAt = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Returns how long to wait before the next time, unless the lane is woken. */
  async refill(): Promise<number> {
    const { fetcher, groups } = this.#parts
    await this.#fetchBehindDominant()
    const waitMs = await fetcher.fill('first', (fetched) => this.#afterFetch(fetched))
    return groups.dominant('first').length > 0 ? Math.min(waitMs, BEHIND_EVERY_MS) : waitMs
  }

  #afterFetch({ count, limit, tookMs, capped }: Fetched): void {
    if (count < limit && tookMs > LONG_SCAN_MS) this.#parts.groups.parkBacklogs(capped)
  }

  /**
   * The backlog of a quick group is fetched oldest first, and jobs of others wait behind it. Now and
   * then a short fetch excludes the group. Where that takes a long scan, the backlog is parked.
   */
  async #fetchBehindDominant(): Promise<void> {
    if (performance.now() < this.#fetchBehindAt) return
    const { fetcher, groups, slots } = this.#parts
    const dominant = groups.dominant('first')
    const room = slots.free('first')
    if (dominant.length === 0 || room < 1 || fetcher.hasTooManyUnsettled()) return
    const { excluded } = groups.allow('first', room, false)
    const limit = Math.min(room, BEHIND_LIMIT)
    const withDominant = { ...excluded, groups: [...new Set([...excluded.groups, ...dominant])] }
    const { jobs, tookMs } = await fetcher.fetch('first', limit, withDominant)
    const hasJobs = jobs.length > 0
    const pauseMs = (hasJobs ? PAUSE_AFTER_JOBS : PAUSE_AFTER_NONE) * tookMs
    this.#fetchBehindAt = performance.now() + Math.max(BEHIND_EVERY_MS, pauseMs)
    fetcher.admitAndBegin('first', jobs, false)
    if (hasJobs && jobs.length < limit && tookMs > LONG_SCAN_MS) groups.parkBacklogs(dominant)
  }
}
