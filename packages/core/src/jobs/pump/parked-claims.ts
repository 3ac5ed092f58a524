/** How many parked jobs a process claims, and in which lane's places they run. */
import type { GroupScheduler } from '../groups/group-scheduler.ts'
import type { Job, Lane } from '../job.ts'
import type { Lanes } from './slots.ts'

interface Parts {
  lanes: Lanes
  groups: GroupScheduler
  largest: number
  /** Room of the slow lane that is worth a fetch; 0 while outcomes wait to be settled. */
  roomInSlow(): number
  /** Whether jobs of the fresh lane wait for room. */
  freshWaits(): boolean
}

export class ParkedClaims {
  #parts: Parts
  /** Retries and parked jobs take turns, where there is room for one of them. */
  #isTurn = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Claims what there is room for: in the slow lane, half of it while retries wait as well, and in
   * the fresh lane while nothing waits there.
   */
  async claim(retriesWait: boolean): Promise<Record<Lane, Job[]>> {
    const { lanes, groups } = this.#parts
    const room = { slow: this.#slowRoom(retriesWait), fresh: this.#freshRoom() }
    if (room.slow + room.fresh === 0) return { slow: [], fresh: [] }
    lanes.claim('slow', room.slow)
    lanes.claim('fresh', room.fresh)
    let jobs: Job[] = []
    try {
      jobs = await groups.claimParked(room)
    } finally {
      const slow = Math.min(jobs.length, room.slow)
      lanes.claim('slow', slow - room.slow)
      lanes.claim('fresh', jobs.length - slow - room.fresh)
    }
    return { slow: jobs.slice(0, room.slow), fresh: jobs.slice(room.slow) }
  }

  #slowRoom(retriesWait: boolean): number {
    const room = Math.min(this.#parts.roomInSlow(), this.#parts.largest)
    if (!retriesWait) return room
    if (room !== 1) return Math.ceil(room / 2)
    this.#isTurn = !this.#isTurn
    return this.#isTurn ? 1 : 0
  }

  /** A quarter of the fresh lane stays free for jobs that come meanwhile. */
  #freshRoom(): number {
    const { lanes, largest } = this.#parts
    if (this.#parts.freshWaits() || this.#parts.roomInSlow() === 0) return 0
    const reserve = Math.ceil(lanes.windows.fresh / 4)
    return Math.min(largest, Math.max(0, lanes.places('fresh') - reserve))
  }
}
