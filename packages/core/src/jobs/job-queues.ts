/** What queues.ts describes. */
import type { Database } from '../postgres/pools.ts'
import type { Db } from '../postgres/transaction.ts'
import {
  deleteDeadLetter,
  deleteDeadLetters,
  countDeadLetters,
  recipientsOfDeadLetters,
  dropDeadLetters,
  listDeadLetters,
  type DeadLetterFilter,
} from './pg-boss/dead-letters.ts'
import type { RetrySettings } from './retry-settings.ts'
import { redriveDeadLetters } from './pg-boss/redrive-dead-letters.ts'
import { countJobs } from './pg-boss/count-jobs.ts'
import { deleteRecipients, setHeld } from './pg-boss/recipient-states-table.ts'
import {
  deleteWorkOn,
  endedSpan,
  insertRecovery,
  insertWork,
  lockRecoveries,
  type Recovery,
} from './recipients/work-table.ts'
import { deadLetterQueueOf, type DeadLetter, type Job, type NewJob } from './job.ts'
import { eraseJobs } from './pg-boss/erase-jobs.ts'
import { discardWaiting, makeWaitingDue, type MadeDue } from './pg-boss/waiting-jobs.ts'
import { countWaitingRetries, recipientsOfWaitingRetries } from './pg-boss/make-retries-due.ts'
import { defineQueue, type PgBoss } from './pg-boss/boss.ts'
import { insertJobs } from './pg-boss/insert-jobs.ts'
import { MOST_COUNTED, type ErasedJobs, type Queues, type RecoveryRequest } from './queues.ts'
import type { WorkerRegistry } from './worker-registry.ts'

/** Rows that are moved within the transaction of the call. */
const FIRST_PORTION = 500

export class JobQueues implements Queues {
  #boss: PgBoss
  #database: Database
  #retry: RetrySettings
  #workers: WorkerRegistry
  #isCheck: boolean

  constructor(
    boss: PgBoss,
    database: Database,
    retry: RetrySettings,
    workers: WorkerRegistry,
    isCheck: boolean,
  ) {
    this.#isCheck = isCheck
    this.#boss = boss
    this.#database = database
    this.#retry = retry
    this.#workers = workers
  }

  define(queue: string): Promise<void> {
    return defineQueue(this.#boss, this.#database, queue, {
      ownTable: true,
      isCheck: this.#isCheck,
    })
  }

  insert(db: Db, queue: string, jobs: NewJob[]): Promise<void> {
    return insertJobs(db, queue, jobs, this.#retry)
  }

  wake(queue: string): void {
    this.#workers.wake(queue)
    this.#workers.recipientsReady(queue, null)
  }

  onActivity(watcher: () => void): void {
    this.#workers.onActivity(watcher)
  }

  recipientsChanged(queue: string): void {
    this.#workers.recipientsChanged(queue)
  }

  hold(db: Db, queue: string, recipients: readonly string[]): Promise<void> {
    return setHeld(db, queue, recipients, true)
  }

  release(db: Db, queue: string, recipients: readonly string[]): Promise<void> {
    return setHeld(db, queue, recipients, false)
  }

  async discard<Data>(db: Db, queue: string, recipient: string): Promise<Job<Data>[]> {
    await deleteWorkOn(db, queue, [recipient])
    await setHeld(db, queue, [recipient], true)
    const jobs = await discardWaiting<Data>(db, queue, recipient, FIRST_PORTION)
    await insertWork(db, queue, recipient, 'discard')
    const { count } = await deleteDeadLetters(db, queue, { recipient }, FIRST_PORTION)
    if (count === FIRST_PORTION) await insertWork(db, queue, recipient, 'bury')
    return jobs
  }

  stopDiscard(db: Db, queue: string, recipient: string): Promise<void> {
    return deleteWorkOn(db, queue, [recipient])
  }

  async erase(queue: string, recipients: readonly string[]): Promise<ErasedJobs> {
    if (recipients.length === 0) return { jobs: 0, deadLetters: 0 }
    const { maintenance: db } = this.#database
    const which = { eventIdPrefix: null, recipients }
    const jobs = await eraseJobs(db, queue, which)
    const deadLetters = await eraseJobs(db, deadLetterQueueOf(queue), which)
    await deleteRecipients(db, queue, recipients)
    return { jobs, deadLetters }
  }

  dropDeadLetters(db: Db, queue: string, recipients: string[], since?: Date): Promise<void> {
    return dropDeadLetters(db, queue, recipients, since)
  }

  deleteDeadLetter(db: Db, queue: string, id: string): Promise<void> {
    return deleteDeadLetter(db, queue, id)
  }

  deadLetters<Data>(db: Db, queue: string, filter: DeadLetterFilter): Promise<DeadLetter<Data>[]> {
    return listDeadLetters<Data>(db, queue, filter)
  }

  async redrive(db: Db, queue: string, recipient: string, ids?: string[]): Promise<number> {
    const selection = { recipient, ...(ids ? { ids } : {}) }
    // The second of two simultaneous calls waits here, and counts what the first has left.
    await lockRecoveries(db, recipient)
    const { count } = await redriveDeadLetters(db, queue, selection, this.#retry, FIRST_PORTION)
    if (count < FIRST_PORTION || ids) return count
    const more = await countDeadLetters(db, queue, { recipients: [recipient] })
    if (more > 0) await insertWork(db, queue, recipient, 'redrive')
    return count + more
  }

  makeDue(db: Db, queue: string, recipient: string, attemptedBefore?: string): Promise<MadeDue> {
    return makeWaitingDue(db, queue, recipient, attemptedBefore ?? null)
  }

  count(db: Db, queue: string, recipients: string[], most: number): Promise<Map<string, number>> {
    return countJobs(db, queue, recipients, most)
  }

  probe(queue: string, recipient: string): Promise<boolean> {
    return this.#workers.probe(queue, recipient)
  }

  async recover(db: Db, request: RecoveryRequest): Promise<Recovery> {
    // The second of two simultaneous calls waits here, also for a redrive, and counts what the first has left.
    await lockRecoveries(db, request.recipient)
    const until = await endedSpan(db, request.until)
    const counted = await this.countRecoverable(db, { ...request, until })
    const deliveries = counted !== null && counted > MOST_COUNTED ? null : counted
    return insertRecovery(db, { ...request, until, deliveries })
  }

  async countRecoverable(db: Db, request: RecoveryRequest): Promise<number | null> {
    const { queue, recipient, what, since } = request
    if (what === 'missing') return null
    const span = { since, until: await endedSpan(db, request.until) }
    return what === 'dead'
      ? countDeadLetters(
          db,
          queue,
          { recipients: [recipient], ...span, withoutTests: true },
          MOST_COUNTED + 1,
        )
      : countWaitingRetries(db, queue, { recipient, ...span, recovery: null }, MOST_COUNTED + 1)
  }

  async recipientsToRecover(
    db: Db,
    { queue, what, since, until }: Omit<RecoveryRequest, 'recipient'>,
  ): Promise<Set<string> | null> {
    if (what === 'missing') return null
    const span = { since, until: await endedSpan(db, until) }
    const find = what === 'dead' ? recipientsOfDeadLetters : recipientsOfWaitingRetries
    return new Set(await find(db, queue, span))
  }

  countDead(
    db: Db,
    queue: string,
    of: Pick<DeadLetterFilter, 'recipients' | 'except'>,
  ): Promise<number> {
    return countDeadLetters(db, queue, of, MOST_COUNTED + 1)
  }
}
