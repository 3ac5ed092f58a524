/**
 * Writes circuits that have changed to the table of recipients, adopts those of other processes, and moves the waiting jobs of recipients, in the background:
 * aside, so that no fetch passes them, and back into the lanes.
 */
import type { Database } from '../../postgres/pools.ts'
import type { Db } from '../../postgres/transaction.ts'
import { BEGIN_WITH_WORKER_PLANS } from '../../postgres/worker-pool.ts'
import { moveJobs } from '../pg-boss/waiting-jobs.ts'
import { isLockConflict } from '../../migrations/lock-retries.ts'
import { Timer, within } from '../../time.ts'
import type { RecipientLimits } from './recipient-limits.ts'
import type { RecipientStates } from './recipient-states.ts'
import { splitOnError } from '../../postgres/split-batch.ts'
import { deleteUnusedRecipients, setCircuits } from '../pg-boss/recipient-states-table.ts'

interface Parts {
  queue: string
  database: { db: Pick<Database['db'], 'transaction'> }
  states: RecipientStates
  limits: Pick<RecipientLimits, 'open' | 'setCircuit'>
  log: { error(details: object, message: string): void }
  /** The table of recipients has changed: all processes read it again. */
  changed: () => void
  moved: () => void
}

/** The shortest pause between two writes of circuits: each has all processes read the table of recipients. */
const WRITE_EVERY_MS = 250
/**
 * How long a transaction waits for the row of a recipient, which a transaction of the host may hold for as long
 * as it takes, and when the circuits of such recipients are tried again.
 */
const TERMS = { begin: BEGIN_WITH_WORKER_PLANS, lockMs: 50 }
const AFTER_LOCKS_MS = 1000
/** How long a stop waits for the statement that runs: it is rolled back, and repeated elsewhere. */
const STOPPED_WITHIN_MS = 1000
/** Recipients whose jobs one statement looks for. */
const MOST_RECIPIENTS = 1000

export class RecipientMoves {
  #parts: Parts
  /** Circuits that have changed here, and are not in the table yet. */
  #circuits = new Map<string, boolean>()
  /** Recipients whose circuit this process has opened since it read the table last. */
  #openedHere = new Set<string>()
  #writeNotBefore = 0
  #writeTimer = new Timer(() => this.run())
  #running: Promise<void> | undefined
  #mayMove = true
  #stopped = false
  /** Whether the last run has failed. */
  #hasFailed = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** An attempt of this process has opened or closed the circuit. */
  circuitChanged(recipient: string, isOpen: boolean): void {
    if (isOpen) this.#openedHere.add(recipient)
    else this.#openedHere.delete(recipient)
    this.#circuits.set(recipient, isOpen)
    this.#writeSoon()
  }

  get openedHere(): ReadonlySet<string> {
    return this.#openedHere
  }

  /** The table has been read: what it says of circuits holds, save of those whose change here is not in it yet. */
  adoptCircuits(): void {
    const { states, limits } = this.#parts
    for (const recipient of this.#openedHere) {
      if (!this.#circuits.has(recipient)) this.#openedHere.delete(recipient)
    }
    for (const recipient of [...limits.open(), ...states.open]) {
      if (this.#circuits.has(recipient)) continue
      limits.setCircuit(recipient, states.open.has(recipient))
    }
  }

  run(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** Moves no further portion: the rest is for other processes, or for the next boot. Circuits are still written. */
  stopMoving(): void {
    this.#mayMove = false
  }

  /** Circuits that wait for the end of the pause are written at once: other processes live by them. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#writeTimer.clear()
    await within(STOPPED_WITHIN_MS, this.#running, () => {})
    if (!this.#hasFailed) await this.#try(() => this.#writeCircuits(true), true)
  }

  async #run(): Promise<void> {
    await this.#try(async () => {
      await this.#writeCircuits()
      await this.#move()
    })
    if (this.#circuits.size > 0 && !this.#hasFailed) this.#writeSoon()
  }

  async #try(work: () => Promise<void>, isLast = false): Promise<void> {
    try {
      this.#hasFailed = false
      await work()
    } catch (error) {
      this.#hasFailed = true
      // It was given up.
      if (this.#stopped && !isLast) return
      const about = { err: error, queue: this.#parts.queue }
      this.#parts.log.error(about, 'could not move the waiting jobs of a recipient; it tries again')
    }
  }

  #writeSoon(): void {
    if (!this.#stopped) this.#writeTimer.set(this.#writeNotBefore - performance.now())
  }

  async #writeCircuits(isLast = false): Promise<void> {
    if (this.#circuits.size === 0 || (this.#stopped && !isLast)) return
    if (performance.now() < this.#writeNotBefore && !isLast) return
    this.#writeNotBefore = performance.now() + WRITE_EVERY_MS
    const write = (some: [string, boolean][]) =>
      this.#background((db) => setCircuits(db, this.#parts.queue, some))
    const isOther = (error: unknown) => !isLockConflict(error)
    const { parts, failed } = await splitOnError([...this.#circuits], write, isOther)
    for (const [recipient, isOpen] of parts.flatMap(({ items }) => items)) {
      if (this.#circuits.get(recipient) === isOpen) this.#circuits.delete(recipient)
    }
    if (parts.length > 0) this.#parts.changed()
    for (const { error } of failed) if (isOther(error)) throw error
    if (failed.length > 0) this.#writeNotBefore = performance.now() + AFTER_LOCKS_MS
  }

  #background<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return this.#parts.database.db.transaction(work, TERMS)
  }

  async #move(): Promise<void> {
    const { queue, states, moved } = this.#parts
    for (const recipients of portionsOf([...states.inLanes])) {
      if (await this.#moveAll(recipients)) states.areAside(recipients)
    }
    for (const recipients of portionsOf([...states.back])) {
      if (!(await this.#moveAll(recipients, moved))) return
      const gone = await this.#background((db) => deleteUnusedRecipients(db, queue, recipients))
      // The table may have been read meanwhile.
      states.forget(gone.filter((recipient) => states.back.has(recipient)))
    }
  }

  /**
   * Moves in portions, each in a transaction of its own. Returns whether all are moved. A job that is locked is
   * being claimed: its settlement puts it where it belongs.
   */
  async #moveAll(recipients: string[], moved = () => {}): Promise<boolean> {
    const { queue } = this.#parts
    for (let hasMore = true; hasMore && this.#mayMove;) {
      const portion = await this.#background((db) => moveJobs(db, queue, recipients))
      hasMore = portion.hasMore
      if (portion.moved > 0) moved()
    }
    return this.#mayMove
  }
}

const portionsOf = (recipients: string[]): string[][] =>
  Array.from({ length: Math.ceil(recipients.length / MOST_RECIPIENTS) }, (_, n) =>
    recipients.slice(n * MOST_RECIPIENTS, (n + 1) * MOST_RECIPIENTS),
  )
