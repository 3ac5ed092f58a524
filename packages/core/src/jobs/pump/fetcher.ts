/** Takes jobs into free slots, and begins those that the limits of their recipients admit. */
import type { RecipientScheduler } from '../recipients/recipient-scheduler.ts'
import { LANES, type Job, type Lane } from '../job.ts'
import type { Attempts } from './attempts.ts'
import type { FetchAhead } from './fetch-ahead.ts'
import type { OutcomeBuffer } from './outcome-buffer.ts'
import type { Slots } from './slots.ts'

interface Parts {
  slots: Slots
  fetchAhead: FetchAhead
  recipients: Pick<RecipientScheduler, 'exist' | 'admit' | 'belongsAside'>
  /** The jobs that this process has claimed and not settled. */
  held: Map<string, Job>
  attempts: Attempts
  outcomes: OutcomeBuffer
}

const LARGEST_FETCH = 200
/** Outcomes that may wait to be settled while more is fetched; or the concurrency, if that is more. */
const MOST_UNSETTLED = 400

export class Fetcher {
  #parts: Parts
  #lastJobAt = performance.now()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get idleMs(): number {
    return performance.now() - this.#lastJobAt
  }

  /** Slots of a lane that are worth a fetch. */
  room(lane: Lane): number {
    if (this.hasTooManyUnsettled()) return 0
    const { slots, recipients, fetchAhead } = this.#parts
    // Attempts of one recipient may be quick while those of another are slow.
    const room = slots.room(lane, recipients.exist ? 0 : fetchAhead.count(), performance.now())
    return Math.min(room, LARGEST_FETCH)
  }

  /** Slots of the first lane that other jobs may use: a quarter of it stays free for those that come meanwhile. */
  spareRoom(): number {
    const { slots } = this.#parts
    const kept = Math.ceil(slots.windows.first / 4)
    return Math.min(LARGEST_FETCH, Math.max(0, slots.free('first') - kept))
  }

  hasTooManyUnsettled(): boolean {
    const { outcomes, slots } = this.#parts
    return outcomes.fresh > Math.max(slots.concurrency, MOST_UNSETTLED)
  }

  /** Reserves these slots for the jobs of a claim; those of the retry lane are filled first. */
  async claimInto(room: Record<Lane, number>, claim: () => Promise<Job[]>): Promise<Job[]> {
    const { slots } = this.#parts
    for (const lane of LANES) slots.reserve(lane, room[lane])
    let jobs: Job[] = []
    try {
      jobs = await claim()
    } finally {
      const inRetry = Math.min(jobs.length, room.retry)
      slots.release('retry', room.retry - inRetry)
      slots.release('first', room.first - (jobs.length - inRetry))
    }
    return jobs
  }

  filled(lane: Lane, tookMs: number): void {
    this.#parts.slots.refilled(lane, tookMs, performance.now())
  }

  /**
   * Begins those jobs that the limits of their recipients in `lane` admit now: a publish claims jobs without a count
   * for each recipient, and they may have changed during a fetch. A job whose recipient has no slot left goes back at once.
   * No attempt is used up. `inRetry`: how many of the jobs, the first ones, have their slots in the retry lane.
   * Returns the recipients of which jobs have gone back.
   */
  admitAndBegin(jobs: Job[], inRetry: number, lane: Lane, uncontended: boolean): Set<string> {
    const { recipients, held, outcomes, slots } = this.#parts
    const refused = new Set<string>()
    const admitted: Record<Lane, Job[]> = { first: [], retry: [] }
    for (const [place, job] of jobs.entries()) {
      const slot = place < inRetry ? 'retry' : 'first'
      const { recipient } = job
      held.set(job.id, job)
      if (recipients.admit(job, lane, uncontended)) {
        admitted[slot].push(job)
        continue
      }
      slots.release(slot, 1)
      if (recipient === null) continue
      refused.add(recipient)
      const isAside = recipients.belongsAside(recipient)
      outcomes.add({
        job,
        outcome: isAside ? { kind: 'parked' } : { kind: 'postponed', delayMs: 0 },
      })
    }
    this.#begin(admitted)
    return refused
  }

  /**
   * Begins jobs that have been counted for their recipients already: their claim was within the limits of
   * the recipient, or needs none, as that of a probe.
   */
  beginAdmitted(jobs: Job[], inRetry: number): void {
    for (const job of jobs) this.#parts.held.set(job.id, job)
    this.#begin({ retry: jobs.slice(0, inRetry), first: jobs.slice(inRetry) })
  }

  #begin(jobs: Record<Lane, Job[]>): void {
    for (const lane of LANES) {
      if (jobs[lane].length === 0) continue
      this.#lastJobAt = performance.now()
      this.#parts.attempts.begin(lane, jobs[lane])
    }
  }
}
