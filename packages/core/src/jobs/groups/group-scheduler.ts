/**
 * Which groups' jobs this process fetches next: the limits of each group, the groups that fetches
 * exclude, and the parked jobs, which are claimed by their group in turns.
 */
import type { Database } from '../../postgres/pools.ts'
import type { Job, Lane } from '../job.ts'
import type { ExcludedGroups } from '../pg-boss/fetch-due-jobs.ts'
import { claimParked } from '../pg-boss/parked-jobs.ts'
import type { Outcome } from '../worker.ts'
import { BacklogParking } from './backlog-parking.ts'
import { Circuits } from './circuits.ts'
import { belowLimit, claimLimits, type ClaimLimit } from './claim-limits.ts'
import { successOf } from './group-answers.ts'
import { GroupLimits, type FetchLimits } from './group-limits.ts'
import { GroupStates } from './group-states.ts'
import { RefreshTimes } from './refresh-times.ts'
import { deleteUnusedGroups, listJobGroups } from '../pg-boss/groups-table.ts'
import { RestrictedClaims } from './ordered-or-limited-claims.ts'

interface Parts {
  queue: string
  withoutGroups: boolean
  /** See `Worker.read`. */
  read: string | undefined
  windows: Record<Lane, number>
  database: Pick<Database, 'workerPool' | 'background'>
  log: { error(details: object, message: string): void }
  /** Names this process in the jobs that it claims. */
  owner: string
  /** Whether this process receives notifications. */
  isNotified: () => boolean
  /** The table of groups has changed: other processes read it again. */
  changed: () => void
  /** The table of groups has changed, or jobs were parked: there may be jobs to fetch or to claim. */
  wake: () => void
  /** There may be jobs of restricted groups to claim. */
  wakeClaims: () => void
}

export class GroupScheduler {
  #parts: Parts
  #limits: GroupLimits
  #states = new GroupStates()
  #parking: BacklogParking
  #circuits: Circuits
  /** The jobs of groups whose restrictions hold over all processes. */
  readonly restricted: RestrictedClaims
  #refreshTimes = new RefreshTimes()
  #exist = false
  #isTurnOfOthers = false

  constructor(parts: Parts) {
    const { queue, database } = parts
    this.#parts = parts
    this.#limits = new GroupLimits(parts.windows)
    this.#parking = new BacklogParking({
      ...parts,
      background: (work, limit) => database.background(work, limit),
      states: this.#states,
      refreshSoon: () => this.refreshSoon(),
    })
    this.#circuits = new Circuits(this.#limits, (group) => this.#parking.hasUnwritten(group))
    const { read, owner, isNotified, wakeClaims } = parts
    const db = database.workerPool.prepared
    this.restricted = new RestrictedClaims({
      queue,
      read,
      db,
      states: this.#states,
      owner,
      isNotified,
      wake: wakeClaims,
    })
  }

  /** Whether this queue's jobs have groups. */
  get exist(): boolean {
    return this.#exist
  }

  /** The table of groups has changed. */
  refreshSoon(): void {
    this.#refreshTimes.soon()
    this.#parts.wake()
  }

  /** There may be jobs to claim of these groups; `null`: of any restricted one. */
  groupsReady(groups: readonly string[] | null): void {
    if (groups === null) this.#states.allReady()
    // A group that is not known yet has just become restricted, or got its first parked jobs.
    else if (!this.#states.haveNew(groups)) this.#refreshTimes.soon()
    this.#parts.wakeClaims()
  }

  /**
   * Reads the table of groups where that is due, and starts what follows from it. `isIdle`: no job has come
   * for a while.
   */
  async refresh(isIdle: boolean): Promise<void> {
    const { withoutGroups, isNotified } = this.#parts
    if (withoutGroups || !this.#refreshTimes.isDue(performance.now())) return
    this.#refreshTimes.began(performance.now())
    try {
      const rows = await listJobGroups(this.#parts.database.workerPool, this.#parts.queue)
      this.#states.replace(rows)
      this.restricted.refreshed()
      this.#circuits.adopt(
        new Set(rows.filter(({ circuitOpen }) => circuitOpen).map(({ group }) => group)),
      )
    } finally {
      const table = { hasRows: this.#states.size > 0, isNotified: isNotified(), isIdle }
      this.#refreshTimes.ended(performance.now(), table)
    }
    this.#parking.run()
  }

  /** How long a refresh after a change still waits; `Infinity` without a change. */
  refreshInMs(): number {
    if (this.#parts.withoutGroups) return Infinity
    return this.#refreshTimes.pendingInMs(performance.now())
  }

  /** What a fetch may bring, and which groups it excludes. */
  allow(
    lane: Lane,
    room: number,
    uncontended: boolean,
  ): FetchLimits & { excluded: ExcludedGroups } {
    const limits = this.#limits.allow(lane, room, performance.now(), uncontended)
    const { groups, withOpenCircuits } = this.#states.excluded()
    const excluded = new Set([...groups, ...this.#circuits.openedHere, ...limits.capped])
    return { ...limits, excluded: { groups: [...excluded], withOpenCircuits } }
  }

  /** A fetch with these exclusions has brought these jobs. */
  fetched(jobs: readonly Job[], { withOpenCircuits }: ExcludedGroups): void {
    if (withOpenCircuits) this.#circuits.adoptClosed(jobs)
  }

  /** Groups that fill a lane and answer quickly: jobs of others may wait behind their backlog. */
  dominant(lane: Lane): string[] {
    return this.#limits.dominant(lane, performance.now())
  }

  /** Groups that have all the slots of the first lane that they may have. */
  full(): string[] {
    return this.#limits.full('first', performance.now())
  }

  /** Whether a job that was fetched may begin; else it goes back. */
  admit(group: string | null, lane: Lane, uncontended: boolean): boolean {
    if (group === null) return true
    this.#exist = true
    return this.#limits.admit(group, lane, performance.now(), uncontended)
  }

  /** Starts a job of the group without regard to its limits. */
  begin(group: string): void {
    this.#limits.begin(group, performance.now())
  }

  ended(job: Job, outcome: Outcome, tookMs: number): void {
    const { group } = job
    if (group === null) return
    if (job.grant) this.restricted.ended(job, outcome, tookMs)
    const change = this.#limits.ended(group, successOf(outcome), tookMs, performance.now())
    if (change === undefined) return
    this.#circuits.changed(group, change === 'opened')
    this.#parking.circuitChanged(group, change === 'opened')
  }

  /** Retries are due, perhaps of groups with an open circuit. */
  parkDue(): void {
    this.#parking.parkDue()
  }

  /** The backlogs of these groups make fetches long: they are parked, and claimed in turns. */
  parkBacklogs(groups: readonly string[]): void {
    this.#parking.parkBacklogs(groups)
  }

  /** When there may be parked jobs to claim, in milliseconds from now. */
  claimableInMs(): number {
    return Math.max(0, this.#states.claimableFrom() - performance.now())
  }

  /**
   * Claims parked jobs, at most as many as there is room for in the two lanes. Where there are some of
   * restricted groups and of others, they take turns.
   */
  async claimParked(room: Record<Lane, number>): Promise<Job[]> {
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
    const { queue, database, owner } = this.#parts
    const { prepared } = database.workerPool
    const jobs: Job[] = await claimParked(prepared, queue, limits, owner)
    const now = performance.now()
    const unused: string[] = []
    for (const { group, count } of belowLimit(limits, jobs)) {
      if (this.#states.empty(group, now) && count === 0) unused.push(group)
    }
    this.#claimed(jobs)
    await deleteUnusedGroups(database.workerPool, queue, unused)
    return jobs
  }

  async #claimRestricted(limits: ClaimLimit[]): Promise<Job[]> {
    const jobs = await this.restricted.claim(limits)
    this.#claimed(jobs)
    return jobs
  }

  #claimed(jobs: Job[]): void {
    const now = performance.now()
    for (const { group } of jobs) {
      if (group === null) continue
      this.#exist = true
      this.#states.claimed(group)
      this.#limits.begin(group, now)
    }
  }

  /** Whether an attempt of this ordered group is under way here, or is being settled. */
  claimsNext(group: string): boolean {
    if (!this.#states.isOrdered(group)) return false
    return this.#limits.inFlightOf(group) > 0 || this.#states.isAwaitingNext(group)
  }

  /** A job of an ordered group was claimed by the settlement of the one before it. */
  follows(job: Job): void {
    this.#claimed([job])
  }

  /** Whether only claims of its parked jobs make attempts of the group. */
  isCircuitOpen(group: string | null): boolean {
    return group !== null && this.#limits.isOpen(group)
  }

  stop(): Promise<void> {
    return this.#parking.stop()
  }
}
