/**
 * Fetches the jobs of one lane into its free slots: in laps from recipient to recipient, as many of each as its limits
 * allow. So nobody waits for the backlog of another.
 */
import { randomUUID } from 'node:crypto'
import type { Allowed } from '../recipients/recipient-limits.ts'
import { countsOf } from '../recipients/claim-limits.ts'
import type { RecipientScheduler } from '../recipients/recipient-scheduler.ts'
import type { Job, Lane as LaneName } from '../job.ts'
import { fetchJobs, fetchLap, fetchOldestRetries } from '../pg-boss/claim-jobs.ts'
import type { QueueTable } from '../pg-boss/queue-table.ts'
import type { Db } from '../../postgres/transaction.ts'
import type { Fetcher } from './fetcher.ts'
import { msUntilPoll, pollMsAfter } from './poll-interval.ts'
import type { QueuePolls } from './queue-polls.ts'

interface Parts {
  lane: LaneName
  /** No job of the queue has a recipient. */
  withoutRecipients: boolean
  table: QueueTable
  db: Db
  polls: QueuePolls
  owner: string
  isNotified: () => boolean
  recipients: Pick<RecipientScheduler, 'allow' | 'hasRoom'>
  fetcher: Fetcher
  /** The slots that a fetch may fill. */
  room: () => Record<LaneName, number>
}

/**
 * - `no room`: nothing was fetched, since no slot is free.
 * - `full`: the queue has more for which there was no room, or not in the turn of its recipient.
 * - `capped`: it has brought all jobs but those of recipients that have all the slots that they may have.
 * - `drained`: it has brought all jobs that are due.
 */
type Result = 'no room' | 'full' | 'capped' | 'drained'

const NO_ROOM_MS = 25
/** Jobs of a recipient in one turn; more where few recipients wait. */
const TURN = 8
/**
 * A fetch that takes longer and brings no job has passed recipients at their limits alone: it makes the next one wait,
 * so many times its own duration.
 */
const LONG_FETCH_MS = 5
const PAUSE_AFTER_LONG = 4

export class Lane {
  #parts: Parts
  #result: Result = 'drained'
  #hasBrought = false
  /** Recipients whose jobs the last fetch passed over, or that it gave back, for their limits. */
  #capped = new Set<string>()
  /** The recipient with which the last full fetch ended. Processes begin at different ones. */
  #after: string = randomUUID()
  /** Of how many recipients the last fetch has brought jobs. */
  #seen = 1
  /** Whether retries are looked for by when they are due, and not in laps: few wait. */
  #isByDue: boolean
  /** Whether there is no reason to expect jobs: then a poll comes before the next fetch. */
  #isPolled = false
  #pollAt = 0
  #notBefore = 0

  constructor(parts: Parts) {
    this.#parts = parts
    this.#isByDue = parts.lane === 'retry'
  }

  expect(): void {
    this.#isPolled = false
  }

  /** Whether the last fetch may have left jobs that are due. */
  get hasMore(): boolean {
    return this.#result !== 'drained'
  }

  /** Whether jobs have come by the last fetch, or may have been left by it. */
  get isUsed(): boolean {
    return this.hasMore || this.#hasBrought
  }

  /** Whether there may be jobs that only wait for a slot of the lane, not for one of their recipient. */
  get needsRoom(): boolean {
    return this.#result === 'no room' || this.#result === 'full'
  }

  /** Whether a fetch may bring jobs now that an attempt has ended: one of this recipient, if it has one. */
  mayBringMore(ended: string | null): boolean {
    if (this.needsRoom) return true
    if (ended === null || !this.#capped.has(ended)) return false
    return this.#parts.recipients.hasRoom(ended, this.#parts.lane, this.#isUncontended)
  }

  /** Fetches what there is room for. Returns how long to wait before the next time, unless the lane is woken. */
  async fill(): Promise<number> {
    const { lane, polls, table, fetcher, isNotified } = this.#parts
    const startedAt = performance.now()
    if (startedAt < this.#notBefore) return this.#notBefore - startedAt
    if (this.#isPolled && startedAt < this.#pollAt) return this.#pollAt - startedAt
    const mayFetch = !this.#isPolled || (await polls.isDue(table.queue, lane))
    // A wake during the fetch is for the next one.
    this.#isPolled = true
    this.#hasBrought = false
    this.#result = mayFetch ? await this.#fetch() : 'drained'
    if (this.#result !== 'drained') this.#isPolled = false
    const now = performance.now()
    if (this.#result === 'no room') return NO_ROOM_MS
    // A lap comes before the next look at what is due.
    if (this.#result === 'full' || this.#isLapDue(lane)) return 0
    const waitMs = msUntilPoll(pollMsAfter(fetcher.idleMs, isNotified()), now)
    this.#pollAt = now + waitMs
    return waitMs
  }

  /** Of the last fetch: it has brought all jobs but those of recipients at their limits. */
  get #isUncontended(): boolean {
    return !this.needsRoom
  }

  #isLapDue(lane: LaneName): boolean {
    return lane === 'retry' && this.#result === 'capped' && !this.#isByDue
  }

  async #fetch(): Promise<Result> {
    const { lane, fetcher, recipients } = this.#parts
    const room = this.#parts.room()
    const limit = room.first + room.retry
    if (limit === 0) return 'no room'
    const isUncontended = this.#isUncontended
    const share = this.#isByDue ? limit : Math.max(TURN, Math.ceil(limit / this.#seen))
    const inLane = room.first > 0 ? 'first' : lane
    const allowed = recipients.allow(inLane, Math.min(limit, share), isUncontended)
    const startedAt = performance.now()
    const jobs = await fetcher.claimInto(room, () => this.#claim(limit, allowed))
    const tookMs = performance.now() - startedAt
    fetcher.filled(lane, tookMs)
    this.#hasBrought = jobs.length > 0
    const result = this.#resultOf(jobs, limit, allowed)
    // What recipients at their limits cost is bounded.
    if (result === 'capped' && jobs.length === 0 && tookMs > LONG_FETCH_MS) {
      this.#notBefore = performance.now() + PAUSE_AFTER_LONG * tookMs
    }
    for (const recipient of fetcher.admitAndBegin(jobs, room.retry, inLane, isUncontended)) {
      this.#capped.add(recipient)
    }
    if (lane === 'retry') this.#isByDue = !this.#isByDue ? result !== 'full' : result === 'drained'
    return result
  }

  #claim(limit: number, { each, caps }: Allowed): Promise<Job[]> {
    const { lane, withoutRecipients, db, table, owner } = this.#parts
    if (withoutRecipients) return fetchJobs(db, table, { lane, limit, owner })
    if (this.#isByDue) return fetchOldestRetries(db, table, { limit, owner, each, caps })
    return fetchLap(db, table, { lane, limit, owner, each, caps, after: this.#after })
  }

  #resultOf(jobs: readonly Job[], limit: number, { share, each, caps }: Allowed): Result {
    this.#capped = new Set(Object.keys(caps).filter((recipient) => caps[recipient] === 0))
    const counts = countsOf(jobs)
    let isCut = false
    for (const [recipient, count] of counts) {
      const most = caps[recipient] ?? each
      if (count < most) continue
      if (recipient in caps && most < share) this.#capped.add(recipient)
      else isCut = true
    }
    if (counts.size > 0) this.#seen = counts.size
    if (jobs.length === limit) {
      this.#after = lastOfLap([...counts.keys()], this.#after) ?? this.#after
      return 'full'
    }
    if (isCut) return 'full'
    return this.#capped.size > 0 ? 'capped' : 'drained'
  }
}

/**
 * The slots that a fetch of the first lane reserves, of those that are free. A quarter is left to publishes, which
 * claim their own jobs as they write them: a job that finds all slots reserved needs a fetch of its own, and so does
 * the next one. Where jobs wait for room they come first.
 */
export const roomOfFetch = (free: number, needsRoom: boolean): number =>
  needsRoom ? free : free - Math.floor(free / 4)

/** The last of these recipients in the order of a lap that begins after `after`. */
export function lastOfLap(recipients: readonly string[], after: string): string | undefined {
  const behind = recipients.filter((recipient) => recipient <= after)
  return (behind.length > 0 ? behind : recipients).toSorted().at(-1)
}
