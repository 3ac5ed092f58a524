/**
 * Fetches retries, and claims jobs that wait aside, group by recipient in turns. Each has half of the room while
 * both wait. They may use free slots of the first lane as well while no job waits there.
 */
import type { RecipientScheduler } from '../recipients/recipient-scheduler.ts'
import type { Lane as LaneName } from '../job.ts'
import type { Fetcher } from './fetcher.ts'
import type { Lane } from './lane.ts'
import { IDLE_AFTER_MS } from './poll-interval.ts'
import type { Slots } from './slots.ts'

interface Parts {
  fetcher: Fetcher
  recipients: RecipientScheduler
  first: Lane
  retries: Lane
  slots: Slots
  wakeLanesWithRoom: () => void
}

const SHORTEST_WAIT_MS = 50

export class RetryLane {
  #parts: Parts
  /** Retries and jobs aside take turns, where there is room for one of them. */
  #isTurn = false
  #mayClaimMore = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Whether to claim jobs that wait aside as soon as there is room: the last claim had room for no more. */
  get mayClaimMore(): boolean {
    return this.#mayClaimMore
  }

  /** The slots that retries may fill. */
  static room(fetcher: Fetcher, first: Lane): Record<LaneName, number> {
    const retry = fetcher.room('retry')
    return { retry, first: retry > 0 && !first.hasMore ? fetcher.spareRoom() : 0 }
  }

  /** Returns how long to wait before the next time, unless the lane is woken. */
  async refill(): Promise<number> {
    const { fetcher, recipients, retries, slots, wakeLanesWithRoom } = this.#parts
    await recipients.refresh(fetcher.idleMs > IDLE_AFTER_MS)
    this.#mayClaimMore = await this.#claimAside()
    const waitMs = await retries.fill()
    // The receiver of a recipient may hang: then the retry lane needs its slots for the other recipients.
    slots.keepForRetries(retries.isUsed || recipients.exist)
    wakeLanesWithRoom()
    if (this.#mayClaimMore) return 0
    const claimInMs = Math.max(SHORTEST_WAIT_MS, recipients.claimableInMs())
    return Math.min(waitMs, claimInMs, recipients.refreshInMs())
  }

  async #claimAside(): Promise<boolean> {
    const { fetcher, recipients, first } = this.#parts
    if (recipients.claimableInMs() > 0) return false
    const all = RetryLane.room(fetcher, first)
    const room = { ...all, retry: this.#shareOf(all.retry) }
    if (room.retry + room.first === 0) return false
    const startedAt = performance.now()
    const jobs = await fetcher.claimInto(room, () => recipients.claimAside(room))
    if (jobs.length === 0) return false
    fetcher.filled('retry', performance.now() - startedAt)
    fetcher.beginAdmitted(jobs, room.retry)
    return true
  }

  #shareOf(room: number): number {
    if (!this.#parts.retries.needsRoom || room === 0) return room
    if (room !== 1) return Math.ceil(room / 2)
    this.#isTurn = !this.#isTurn
    return this.#isTurn ? 1 : 0
  }
}
