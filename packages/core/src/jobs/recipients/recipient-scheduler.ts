/**
 * Which recipients' jobs this process fetches next: the limits of each recipient, and the jobs that wait aside, which are
 * claimed by their recipient in turns.
 */
import type { Database } from '../../postgres/pools.ts'
import type { Job, Lane } from '../job.ts'
import { claimAside } from '../pg-boss/claim-jobs.ts'
import type { QueueTable } from '../pg-boss/queue-table.ts'
import type { Outcome } from '../worker.ts'
import { belowLimit, claimLimits, type ClaimLimit } from './claim-limits.ts'
import { successOf } from './recipient-answers.ts'
import { RecipientLimits, type Allowed } from './recipient-limits.ts'
import { RecipientMoves } from './recipient-moves.ts'
import { RecipientStates } from './recipient-states.ts'
import { listRecipients } from '../pg-boss/recipient-states-table.ts'
import { RestrictedClaims } from './ordered-or-limited-claims.ts'

interface Parts {
  queue: string
  table: QueueTable
  withoutRecipients: boolean
  read: string | undefined
  windows: Record<Lane, number>
  database: Pick<Database, 'workerPool' | 'db'>
  log: { error(details: object, message: string): void }
  owner: string
  isNotified: () => boolean
  /** The table of recipients has changed: all processes read it again. */
  changed: () => void
  /** The table of recipients has changed: there may be jobs to claim. */
  wake: () => void
  moved: () => void
  /** There may be jobs of restricted recipients to claim. */
  wakeClaims: () => void
}

const READ_EVERY_MS = 1000
/** Without rows in the table, and where changes are notified and no job comes. */
const READ_IDLE_MS = 5000
/** How many times its own duration a read makes one after a change wait, up to a second. */
const PAUSE_IN_DURATIONS = 10
const ALL_EVERY_MS = 60_000

export class RecipientScheduler {
  #parts: Parts
  #limits: RecipientLimits
  #states = new RecipientStates()
  #moves: RecipientMoves
  /** The jobs of recipients whose restrictions hold over all processes. */
  readonly restricted: RestrictedClaims
  /** When the table of recipients is read again; 0: as soon as may be. */
  #readAt = 0
  #readNotBefore = 0
  /** What was seen as the table of recipients was read last. */
  #seen: string | null = null
  /** When all of it is read again. */
  #allAt = 0
  #exist = false
  #isTurnOfOthers = false

  constructor(parts: Parts) {
    const { database } = parts
    this.#parts = parts
    this.#limits = new RecipientLimits(parts.windows)
    this.#moves = new RecipientMoves({
      ...parts,
      states: this.#states,
      limits: this.#limits,
    })
    this.restricted = new RestrictedClaims({
      ...parts,
      db: database.workerPool.prepared,
      states: this.#states,
      wake: parts.wakeClaims,
    })
  }

  /** Whether this queue's jobs have recipients. */
  get exist(): boolean {
    return this.#exist
  }

  refreshSoon(): void {
    this.#readAt = 0
    this.#parts.wake()
  }

  /** There may be jobs to claim of these recipients; `null`: of any restricted one. */
  recipientsReady(recipients: readonly string[] | null): void {
    if (recipients === null) this.#states.allReady()
    // A recipient that is not known yet has just become restricted.
    else if (!this.#states.haveNew(recipients)) this.#readAt = 0
    this.#parts.wakeClaims()
  }

  /**
   * Reads the table of recipients where that is due, and starts what follows from it. `isIdle`: no job has come
   * for a while.
   */
  async refresh(isIdle: boolean): Promise<void> {
    const { withoutRecipients, isNotified } = this.#parts
    const beganAt = performance.now()
    if (withoutRecipients || beganAt < Math.max(this.#readAt, this.#readNotBefore)) return
    this.#readAt = Infinity
    try {
      await this.#readRecipients()
      this.restricted.refreshed()
      this.#moves.adoptCircuits()
    } finally {
      const now = performance.now()
      const isRare = this.#states.size === 0 || (isNotified() && isIdle)
      // A change meanwhile has set it to 0.
      if (this.#readAt > 0) this.#readAt = now + (isRare ? READ_IDLE_MS : READ_EVERY_MS)
      this.#readNotBefore = now + Math.min(READ_EVERY_MS, PAUSE_IN_DURATIONS * (now - beganAt))
    }
    this.#moves.run()
  }

  /** Rows that were deleted elsewhere show only as all are read. */
  async #readRecipients(): Promise<void> {
    const { queue, database } = this.#parts
    const areAll = performance.now() >= this.#allAt
    const { rows, seen } = await listRecipients(
      database.workerPool,
      queue,
      areAll ? null : this.#seen,
    )
    this.#states.apply(rows, areAll || this.#seen === null)
    this.#seen = seen
    if (areAll) this.#allAt = performance.now() + ALL_EVERY_MS
  }

  /** How long a refresh after a change still waits; `Infinity` without a change. */
  refreshInMs(): number {
    if (this.#parts.withoutRecipients || this.#readAt > 0) return Infinity
    return Math.max(0, this.#readNotBefore - performance.now())
  }

  /** How many jobs of each recipient a fetch may bring, at most `share`: none of those that belong aside. */
  allow(lane: Lane, share: number, uncontended: boolean): Allowed {
    const allowed = this.#limits.allow(lane, share, performance.now(), uncontended)
    for (const recipient of this.#states.inLanes) allowed.caps[recipient] = 0
    for (const recipient of this.#moves.openedHere) allowed.caps[recipient] = 0
    return allowed
  }

  /** Whether the free slots of the recipient are worth a fetch. */
  hasRoom(recipient: string, lane: Lane, uncontended: boolean): boolean {
    return this.#limits.hasRoom(recipient, lane, performance.now(), uncontended)
  }

  /** Whether the jobs of the recipient belong aside: one that was fetched all the same goes there. */
  belongsAside(recipient: string): boolean {
    return this.#states.belongsAside(recipient) || this.#moves.openedHere.has(recipient)
  }

  /** Recipients that have all the slots of the first lane that they may have. */
  full(): string[] {
    return this.#limits.full('first', performance.now())
  }

  /** Whether a job that was fetched may begin; else it goes back. */
  admit({ recipient, permit }: Job, lane: Lane, uncontended: boolean): boolean {
    if (recipient === null) return true
    this.#exist = true
    // A publish has claimed it.
    if (permit) this.#states.began(recipient)
    return this.#limits.admit(recipient, lane, performance.now(), uncontended)
  }

  /** Starts a job of the recipient without regard to its limits. */
  begin(recipient: string): void {
    this.#limits.begin(recipient, performance.now())
  }

  ended(job: Job, outcome: Outcome, tookMs: number): void {
    const { recipient } = job
    if (recipient === null) return
    if (job.permit) this.restricted.ended(job, outcome, tookMs)
    const change = this.#limits.ended(recipient, successOf(outcome), tookMs, performance.now())
    if (change === undefined) return
    this.#moves.circuitChanged(recipient, change === 'opened')
  }

  /** When there may be jobs aside to claim, in milliseconds from now. */
  claimableInMs(): number {
    return Math.max(0, this.#states.claimableFrom() - performance.now())
  }

  /**
   * Claims jobs that wait aside, at most as many as there is room for in the two lanes. Where there are some of
   * restricted recipients and of others, they take turns.
   */
  async claimAside(room: Record<Lane, number>): Promise<Job[]> {
    const { windows } = this.#parts
    const limits = claimLimits(this.#states, this.#limits, windows, room, performance.now())
    const restricted = limits.filter(({ isRestricted }) => isRestricted)
    const others = limits.filter(({ isRestricted }) => !isRestricted)
    this.#isTurnOfOthers = !this.#isTurnOfOthers
    if (this.#isTurnOfOthers) {
      const jobs = await this.#claimOthers(others)
      return jobs.length > 0 ? jobs : await this.#claimRestricted(restricted)
    }
    const jobs = await this.#claimRestricted(restricted)
    return jobs.length > 0 ? jobs : await this.#claimOthers(others)
  }

  async #claimOthers(limits: ClaimLimit[]): Promise<Job[]> {
    if (limits.length === 0) return []
    const { table, database, owner } = this.#parts
    const jobs: Job[] = await claimAside(database.workerPool.prepared, table, limits, owner)
    const now = performance.now()
    for (const recipient of belowLimit(limits, jobs)) this.#states.empty(recipient, now)
    this.#claimed(jobs)
    return jobs
  }

  async #claimRestricted(limits: ClaimLimit[]): Promise<Job[]> {
    const jobs = await this.restricted.claim(limits)
    this.#claimed(jobs)
    return jobs
  }

  #claimed(jobs: Job[]): void {
    const now = performance.now()
    for (const { recipient } of jobs) {
      if (recipient === null) continue
      this.#exist = true
      this.#states.claimed(recipient)
      this.#states.began(recipient)
      this.#limits.begin(recipient, now)
    }
  }

  claimsNext(recipient: string): boolean {
    return this.#states.claimsNext(recipient)
  }

  /** Whether only claims of its jobs aside make attempts of the recipient. */
  isCircuitOpen(recipient: string | null): boolean {
    return recipient !== null && this.#limits.isOpen(recipient)
  }

  stopMoving(): void {
    this.#moves.stopMoving()
  }

  stop(): Promise<void> {
    return this.#moves.stop()
  }
}
