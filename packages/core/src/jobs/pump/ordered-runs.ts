/**
 * Runs of jobs of ordered groups, which follow one another in one slot: the statement that settles a job
 * claims the next one. Claims in turns with other groups would take several statements for each job.
 */
import type { Db } from '../../postgres/transaction.ts'
import type { GroupScheduler } from '../groups/group-scheduler.ts'
import type { Job, Lane } from '../job.ts'
import type { JobOutcome, Outcome, Worker } from '../worker.ts'
import { settleInLine } from '../pg-boss/settle.ts'
import { rowsOf } from './settle.ts'
import type { Slots } from './slots.ts'

interface Parts {
  worker: Worker
  db: Db
  /** Names this process in the jobs that it claims. */
  owner: string
  slots: Pick<Slots, 'reserve'>
  groups: Pick<GroupScheduler, 'restricted' | 'follows'>
  /** Begins an attempt in a slot that is reserved. */
  begin: (lane: Lane, job: Job) => void
  /** The job waits again. */
  giveBack: (job: Job) => void
  /** A slot that was kept is free. */
  release: (lane: Lane) => void
}

type Completed = JobOutcome & { outcome: Extract<Outcome, { kind: 'completed' }> }

const isCompleted = (one: JobOutcome): one is Completed => one.outcome.kind === 'completed'

export class OrderedRuns {
  #parts: Parts
  /** Jobs that are to be settled, and the lane of the slot that is kept for the next one. */
  #lanes = new Map<Job, Lane>()
  #isClosed = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** No job follows any more. */
  close(): void {
    this.#isClosed = true
    this.forget([...this.#lanes.keys()])
  }

  /** An attempt has ended. Its slot is kept where another job may follow. */
  ended(lane: Lane, one: JobOutcome): void {
    const { slots, groups } = this.#parts
    const { job } = one
    if (this.#isClosed || !isCompleted(one) || job.group === null) return
    if (!groups.restricted.mayFollow(job)) return
    slots.reserve(lane, 1)
    groups.restricted.awaitNext(job.group)
    this.#lanes.set(job, lane)
  }

  /** Settles those of a batch that another job may follow. Returns the others. */
  async settle(batch: JobOutcome[]): Promise<JobOutcome[]> {
    if (this.#lanes.size === 0) return batch
    const all = await Promise.allSettled(batch.map((one) => this.#settle(one)))
    for (const one of all) if (one.status === 'rejected') throw one.reason
    return batch.filter(
      (_, index) => (all[index] as PromiseFulfilledResult<boolean>).value === false,
    )
  }

  /** These jobs are settled, or given up. */
  forget(jobs: readonly Job[]): void {
    for (const job of jobs) {
      const lane = this.#take(job, false)
      if (lane !== undefined) this.#parts.release(lane)
    }
  }

  async #settle(one: JobOutcome): Promise<boolean> {
    const { worker, db, owner, groups } = this.#parts
    const { job } = one
    if (this.#isClosed || !isCompleted(one) || job.group === null || !this.#lanes.has(job)) {
      return false
    }
    const { queue, record, read } = worker
    const rows = record && rowsOf(worker, { ...one, result: 'completed' })
    if (!rows || read === undefined) return false
    const askedAt = performance.now()
    groups.restricted.asksNext(job.group)
    const recorded = { function: record.function, rows }
    const settled = await settleInLine(db, queue, job, owner, recorded, read)
    if (settled.next === null) groups.restricted.noNext(job.group, settled.isEmpty)
    else this.#begin(job, settled.next, askedAt)
    return true
  }

  #begin(before: Job, next: Job, askedAt: number): void {
    const { groups, begin, giveBack, release } = this.#parts
    const runSince = before.grant?.runSince ?? before.grant?.askedAt ?? askedAt
    const job: Job = { ...next, grant: { id: null, askedAt, runSince } }
    const lane = this.#take(before, true)
    if (lane !== undefined && !this.#isClosed) {
      groups.follows(job)
      return begin(lane, job)
    }
    if (lane !== undefined) release(lane)
    giveBack(job)
  }

  #take(job: Job, hasNext: boolean): Lane | undefined {
    const lane = this.#lanes.get(job)
    if (lane === undefined || job.group === null) return undefined
    this.#lanes.delete(job)
    this.#parts.groups.restricted.nextDecided(job.group, hasNext)
    return lane
  }
}
