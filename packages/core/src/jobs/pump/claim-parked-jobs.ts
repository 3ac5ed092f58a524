/** How many parked jobs a process claims, and in which lane's slots they run. */
import type { GroupScheduler } from '../groups/group-scheduler.ts'
import type { Job, Lane } from '../job.ts'
import { LARGEST_FETCH, type Fetcher } from './fetcher.ts'
import type { Slots } from './slots.ts'

export class ParkedJobClaims {
  #slots: Slots
  #groups: GroupScheduler
  #fetcher: Fetcher
  /** Retries and parked jobs take turns, where there is room for one of them. */
  #isTurn = false

  constructor(slots: Slots, groups: GroupScheduler, fetcher: Fetcher) {
    this.#slots = slots
    this.#groups = groups
    this.#fetcher = fetcher
  }

  /**
   * Claims what there is room for: in the retry lane, half of it while retries wait as well, and in
   * the first lane while no jobs wait there. `null`: there was no room.
   */
  async claim(retriesWait: boolean): Promise<Record<Lane, Job[]> | null> {
    const slots = this.#slots
    const retryRoom = this.#fetcher.room('retry')
    const room = { retry: this.#shareOf(retryRoom, retriesWait), first: 0 }
    slots.reserve('retry', room.retry)
    if (retryRoom > 0) room.first = this.#firstRoom()
    if (room.retry + room.first === 0) return null
    slots.reserve('first', room.first)
    let jobs: Job[] = []
    const startedAt = performance.now()
    try {
      jobs = await this.#groups.claimParked(room)
      const now = performance.now()
      if (jobs.length > 0) slots.refilled('retry', now - startedAt, now)
    } finally {
      const inRetry = Math.min(jobs.length, room.retry)
      slots.release('retry', room.retry - inRetry)
      slots.release('first', room.first - (jobs.length - inRetry))
    }
    return { retry: jobs.slice(0, room.retry), first: jobs.slice(room.retry) }
  }

  #shareOf(retryRoom: number, retriesWait: boolean): number {
    const room = Math.min(retryRoom, LARGEST_FETCH)
    if (!retriesWait) return room
    if (room !== 1) return Math.ceil(room / 2)
    this.#isTurn = !this.#isTurn
    return this.#isTurn ? 1 : 0
  }

  /** A quarter of the first lane stays free for jobs that come meanwhile. */
  #firstRoom(): number {
    if (this.#fetcher.hasMore('first')) return 0
    const kept = Math.ceil(this.#slots.windows.first / 4)
    return Math.min(LARGEST_FETCH, Math.max(0, this.#slots.free('first') - kept))
  }
}
