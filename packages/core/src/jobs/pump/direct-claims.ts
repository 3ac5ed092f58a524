/**
 * Claims without a fetch: jobs that publishes of this process have claimed as they wrote them, and
 * the probe of a held recipient.
 */
import type { Db } from '../../postgres/transaction.ts'
import type { RecipientScheduler } from '../recipients/recipient-scheduler.ts'
import type { Job } from '../job.ts'
import { findClaimed } from '../pg-boss/jobs-table.ts'
import { claimProbe } from '../pg-boss/waiting-jobs.ts'
import type { Fetcher } from './fetcher.ts'
import type { Lane } from './lane.ts'
import type { Slots } from './slots.ts'

interface Parts {
  queue: string
  db: Db
  /** Names this process in the jobs that it claims. */
  owner: string
  slots: Slots
  recipients: Pick<RecipientScheduler, 'begin'>
  fetcher: Pick<Fetcher, 'admitAndBegin' | 'beginAdmitted' | 'hasTooManyUnsettled'>
  first: Pick<Lane, 'needsRoom'>
  /** These jobs wait again. */
  giveBack: (jobs: Job[]) => void
  isPaused: () => boolean
  log: { error(details: object, message: string): void }
}

export class DirectClaims {
  #parts: Parts
  #isOpen = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Jobs may be claimed directly from now on. */
  open(): void {
    this.#isOpen = true
  }

  close(): void {
    this.#isOpen = false
  }

  /** Slots for first attempts that a publish may take; 0 while other jobs wait for them. */
  room(): number {
    const { fetcher, first, slots, isPaused } = this.#parts
    if (!this.#isOpen || isPaused() || first.needsRoom || fetcher.hasTooManyUnsettled()) return 0
    return Math.max(0, slots.free('first'))
  }

  /** Begins jobs that a publish of this process has claimed, and that is committed. */
  beginCommitted(jobs: Job[]): void {
    const { fetcher, slots } = this.#parts
    slots.reserve('first', jobs.length)
    fetcher.admitAndBegin(jobs, 0, 'first', false)
  }

  /**
   * Begins those jobs of a publish that exist: its transaction is committed, and may have rolled back
   * some of them before. Where they cannot be looked up now, they are given back: no attempt is used up.
   */
  async beginIfCommitted(jobs: Job[]): Promise<void> {
    const { queue, db, giveBack, log } = this.#parts
    try {
      const existing = await findClaimed(db, queue, jobs)
      this.beginCommitted(jobs.filter(({ id }) => existing.has(id)))
    } catch (error) {
      log.error({ err: error, queue }, 'could not start claimed jobs; they are given back')
      giveBack(jobs)
    }
  }

  /** Begins one job of a held recipient, where there is a slot. Returns whether there was a job. */
  async probe(recipient: string): Promise<boolean> {
    const { queue, db, owner, slots, recipients, fetcher, isPaused } = this.#parts
    if (!this.#isOpen || isPaused() || slots.free('retry') < 1) return false
    slots.reserve('retry', 1)
    const job = await claimProbe(db, queue, recipient, owner).catch((error: Error) => {
      slots.release('retry', 1)
      throw error
    })
    if (!job) {
      slots.release('retry', 1)
      return false
    }
    recipients.begin(recipient)
    fetcher.beginAdmitted([job], 1)
    return true
  }
}
