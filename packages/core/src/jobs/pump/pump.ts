/**
 * The loops that turn the waiting jobs of a queue into attempts. pg-boss's own `work()` sleeps
 * between fetches, waits for a whole batch before the next, and wakes every worker at each
 * notification. The pump refills its slots as attempts end, and settles outcomes in batches.
 */
import type { Database } from '../../postgres/pools.ts'
import type { AttemptTelemetry } from '../../telemetry/attempt-telemetry.ts'
import { Timer } from '../../time.ts'
import { LANES, type Job, type Lane as LaneName } from '../job.ts'
import type { Pauses } from '../pauses.ts'
import { findClaimed } from '../pg-boss/jobs-table.ts'
import { QueueTable } from '../pg-boss/queue-table.ts'
import { claimProbe } from '../pg-boss/claim-ordered-or-limited.ts'
import { RecipientScheduler } from '../recipients/recipient-scheduler.ts'
import type { Outcome, Settled, Worker } from '../worker.ts'
import { Attempts } from './attempts.ts'
import { FetchAhead } from './fetch-ahead.ts'
import { Fetcher } from './fetcher.ts'
import { Lane, roomOfFetch } from './lane.ts'
import { OutcomeBuffer } from './outcome-buffer.ts'
import { IDLE_AFTER_MS, pauseMsAfter } from './poll-interval.ts'
import type { QueuePolls } from './queue-polls.ts'
import { mayWait, settleFor } from './settle.ts'
import { Slots } from './slots.ts'
import { WakeableSleep } from './wakeable-sleep.ts'

interface Parts {
  worker: Worker
  database: Pick<Database, 'workerPool' | 'db'>
  polls: QueuePolls
  log: Record<'error' | 'info', (details: object, message: string) => void>
  owner: string
  isNotified: () => boolean
  /** This pump has written to the table of recipients: all processes read it again. */
  recipientsChanged(): void
  settled(): void
  fetchFailed: () => void
  telemetry: AttemptTelemetry
  asAtBoot: <T>(run: () => T) => T
  pauses: Pick<Pauses, 'has' | 'holds' | 'mayHold'>
}

const DRAIN_SECONDS = 10
/** How long a paused queue waits before it asks again, unless it is told. */
const PAUSED_MS = 1000
const PAUSED_NOTIFIED_MS = 10_000
/** A lane is woken for the jobs that were put back here, and need not poll for them. A poll finds those due later. */
const WAKE_STEP_MS = 100
const FARTHEST_WAKE_MS = 5 * 60_000
/** Of the retry lane, between two claims of jobs that wait aside. */
const SHORTEST_WAIT_MS = 50

export class Pump {
  #parts: Parts
  #recipients: RecipientScheduler
  #fetcher: Fetcher
  #attempts: Attempts
  #outcomes: OutcomeBuffer
  /** The jobs that this process has claimed and not settled, by their ids. */
  #held = new Map<string, Job>()
  #slots: Slots
  #lanes: Record<LaneName, Lane>
  #sleeps: Record<LaneName, WakeableSleep>
  #loops: Promise<void>[] = []
  /** At which steps of time which lanes are woken. */
  #wakes = new Set<string>()
  /** Retries and jobs aside take turns, where there is room for one of them. */
  #isTurnOfAside = false
  /** The last claim of jobs that wait aside had room for no more. */
  #mayClaimMore = false
  /** Whether jobs may be claimed without a fetch. */
  #mayClaim = false
  #isStopping = false

  constructor(parts: Parts) {
    const { worker, database, log, owner, isNotified, pauses, polls } = parts
    const { queue, read } = worker
    const withoutRecipients = worker.withoutRecipients === true
    const db = database.workerPool
    const table = new QueueTable(queue)
    const slots = new Slots(worker.concurrency)
    const fetchAhead = new FetchAhead(worker.concurrency)
    const recipients = new RecipientScheduler({
      queue,
      table,
      withoutRecipients,
      read,
      windows: slots.windows,
      database,
      log,
      owner,
      isNotified,
      changed: () => parts.recipientsChanged(),
      wake: () => this.#wakeLane('retry'),
      moved: () => LANES.forEach((lane) => this.#wakeLane(lane)),
      wakeClaims: () => this.#sleeps.retry.wake(),
    })
    const held = this.#held
    const outcomes = new OutcomeBuffer({
      mayWait: (outcome) => worker.settlesTogether === true && mayWait(outcome),
      settle: settleFor(worker, db, (settled) => {
        for (const one of settled) this.#noteDue(one)
      }),
      settled: () => {
        this.#wakeLanesWithRoom(null)
        parts.settled()
      },
      forget: (jobs) => {
        // The same job may have been fetched again meanwhile.
        for (const job of jobs) if (held.get(job.id) === job) held.delete(job.id)
        recipients.restricted.settled(jobs)
      },
      log,
    })
    const attempts = new Attempts({
      worker,
      db: db.prepared,
      slots,
      fetchAhead,
      outcomes,
      telemetry: parts.telemetry,
      asAtBoot: parts.asAtBoot,
      log,
      isPaused: () => pauses.has(queue),
      began: (job) => recipients.restricted.begun(job),
      ended: (job, outcome, tookMs) => this.#attemptEnded(job, outcome, tookMs),
    })
    const fetcher = new Fetcher({ slots, fetchAhead, recipients, held, attempts, outcomes })
    const ofLane = {
      withoutRecipients,
      table,
      db: db.prepared,
      polls,
      owner,
      isNotified,
      recipients,
      fetcher,
    }
    const first = new Lane({
      ...ofLane,
      lane: 'first',
      room: () => ({ first: roomOfFetch(fetcher.room('first'), first.needsRoom), retry: 0 }),
    })
    const retry = new Lane({ ...ofLane, lane: 'retry', room: () => this.#roomOfRetries() })
    this.#parts = parts
    this.#slots = slots
    this.#recipients = recipients
    this.#outcomes = outcomes
    this.#attempts = attempts
    this.#fetcher = fetcher
    this.#lanes = { first, retry }
    const sleep = new WakeableSleep()
    this.#sleeps = { first: this.#inTurns ? sleep : new WakeableSleep(), retry: sleep }
  }

  get worker(): Worker {
    return this.#parts.worker
  }

  start(): void {
    const loops: LaneName[][] = this.#inTurns ? [['first', 'retry']] : [['first'], ['retry']]
    this.#loops = loops.map((lanes) => this.#run(lanes))
    this.#mayClaim = true
  }

  get inFlight(): number {
    return this.#slots.running
  }

  holds(jobId: string): boolean {
    return this.#held.has(jobId)
  }

  /** Slots for first attempts that a publish may take; 0 while other jobs wait for them. */
  roomForPublish(): number {
    if (!this.#mayClaimNow || this.#lanes.first.needsRoom || this.#fetcher.hasTooManyUnsettled()) {
      return 0
    }
    return Math.max(0, this.#slots.free('first'))
  }

  fullRecipients(): string[] {
    return this.#recipients.full()
  }

  /** See `JobOffer`. */
  get endedJobs(): string[] | null {
    return this.#recipients.restricted.endedJobs
  }

  beginCommitted(jobs: Job[]): void {
    this.#slots.reserve('first', jobs.length)
    this.#fetcher.admitAndBegin(jobs, 0, 'first', false)
  }

  /**
   * Begins those jobs of a publish that exist: its transaction is committed, and may have rolled back
   * some of them before. Where they cannot be looked up now, they are given back: no attempt is used up.
   */
  async beginIfCommitted(jobs: Job[]): Promise<void> {
    const { database, log } = this.#parts
    const { queue } = this.worker
    try {
      const existing = await findClaimed(database.workerPool, queue, jobs)
      this.beginCommitted(jobs.filter(({ id }) => existing.has(id)))
    } catch (error) {
      log.error({ err: error, queue }, 'could not start claimed jobs; they are given back')
      for (const job of jobs)
        this.#outcomes.add({ job, outcome: { kind: 'postponed', delayMs: 0 } })
    }
  }

  /** Begins one job of a held recipient, where there is a slot. Returns whether there was a job. */
  async probe(recipient: string): Promise<boolean> {
    const { database, owner } = this.#parts
    if (!this.#mayClaimNow || this.#slots.free('retry') < 1) return false
    this.#slots.reserve('retry', 1)
    let job: Job | undefined
    try {
      job = await claimProbe(database.workerPool, this.worker.queue, recipient, owner)
    } finally {
      if (!job) this.#slots.release('retry', 1)
    }
    if (!job) return false
    this.#recipients.begin(recipient)
    this.#fetcher.beginAdmitted([job], 1)
    return true
  }

  /** The process closes: claims nothing more without a fetch, and moves no more jobs. */
  stopClaiming(): void {
    this.#mayClaim = false
    this.#recipients.stopMoving()
  }

  /** Whether this process claims the next job of this restricted recipient by itself, and has a slot for it. */
  claimsNext(recipient: string): boolean {
    return (
      !this.#isStopping && this.#slots.mayStart('retry') && this.#recipients.claimsNext(recipient)
    )
  }

  /** There may be jobs: new ones; with `recipients` those aside of these; `null`: of all kinds. */
  wake(recipients?: readonly string[] | null): void {
    if (recipients !== undefined) this.#recipients.recipientsReady(recipients)
    if (recipients) return
    this.#wakeLane('first')
    // Redriven and resumed jobs wait in the retry lane, which an idle pump rarely polls.
    if (recipients === null || this.#fetcher.idleMs > IDLE_AFTER_MS) this.#wakeLane('retry')
  }

  recipientsChanged(): void {
    this.#recipients.refreshSoon()
    this.#recipients.recipientsReady(null)
  }

  /**
   * Fetches no more, gives attempts `drainSeconds` to end, aborts the others and puts their jobs
   * back, and settles all outcomes.
   */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.stopClaiming()
    for (const lane of LANES) this.#sleeps[lane].wake()
    await Promise.all(this.#loops)
    await this.#attempts.stop((this.worker.drainSeconds ?? DRAIN_SECONDS) * 1000)
    await this.#recipients.stop()
    await this.#outcomes.close()
  }

  /**
   * Whether the lanes take turns in one loop: there is one slot. Otherwise no lane waits for the
   * other's fetch.
   */
  get #inTurns(): boolean {
    return this.worker.concurrency === 1
  }

  get #mayClaimNow(): boolean {
    return this.#mayClaim && !this.#parts.pauses.mayHold(this.worker.queue)
  }

  /** Refills these lanes in turn, until the pump stops. */
  async #run(turns: LaneName[]): Promise<void> {
    const { fetchFailed, log } = this.#parts
    const { queue } = this.worker
    const sleep = this.#sleeps[turns[0] ?? 'first']
    let failures = 0
    while (!this.#isStopping) {
      try {
        let waitMs = Infinity
        for (const lane of turns) waitMs = Math.min(waitMs, await this.#refill(lane))
        turns.reverse()
        if (failures > 0) log.info({ queue }, 'fetching jobs works again')
        failures = 0
        if (waitMs > 0) await sleep.sleep(waitMs)
      } catch (error) {
        fetchFailed()
        if (failures === 0) log.error({ err: error, queue }, 'could not fetch jobs; it tries again')
        await sleep.sleep(pauseMsAfter(++failures))
      }
    }
  }

  /** Returns how long to wait before the next time, unless the lane is woken. */
  async #refill(lane: LaneName): Promise<number> {
    const { pauses, isNotified } = this.#parts
    if (await pauses.holds(this.worker.queue)) return isNotified() ? PAUSED_NOTIFIED_MS : PAUSED_MS
    return lane === 'first' ? this.#lanes.first.fill() : this.#refillRetries()
  }

  /**
   * Fetches retries, and claims jobs that wait aside, by their recipients in turns. Each has half of the room while
   * both wait. They may use free slots of the first lane as well while no job waits there.
   */
  async #refillRetries(): Promise<number> {
    const recipients = this.#recipients
    const { retry } = this.#lanes
    await recipients.refresh(this.#fetcher.idleMs > IDLE_AFTER_MS)
    this.#mayClaimMore = await this.#claimAside()
    const waitMs = await retry.fill()
    // The receiver of a recipient may hang: then the retry lane needs its slots for the other recipients.
    this.#slots.keepForRetries(retry.isUsed || recipients.exist)
    this.#wakeLanesWithRoom(null)
    if (this.#mayClaimMore) return 0
    const claimInMs = Math.max(SHORTEST_WAIT_MS, recipients.claimableInMs())
    return Math.min(waitMs, claimInMs, recipients.refreshInMs())
  }

  async #claimAside(): Promise<boolean> {
    const fetcher = this.#fetcher
    if (this.#recipients.claimableInMs() > 0) return false
    const { retry, first } = this.#roomOfRetries()
    const room = { retry: this.#shareOf(retry), first }
    if (room.retry + room.first === 0) return false
    const startedAt = performance.now()
    const jobs = await fetcher.claimInto(room, () => this.#recipients.claimAside(room))
    if (jobs.length === 0) return false
    fetcher.filled('retry', performance.now() - startedAt)
    fetcher.beginAdmitted(jobs, room.retry)
    return true
  }

  /** The slots that retries may fill. */
  #roomOfRetries(): Record<LaneName, number> {
    const retry = this.#fetcher.room('retry')
    return { retry, first: retry > 0 && !this.#lanes.first.hasMore ? this.#fetcher.spareRoom() : 0 }
  }

  #shareOf(room: number): number {
    if (!this.#lanes.retry.needsRoom || room === 0) return room
    if (room !== 1) return Math.ceil(room / 2)
    this.#isTurnOfAside = !this.#isTurnOfAside
    return this.#isTurnOfAside ? 1 : 0
  }

  #attemptEnded(job: Job, outcome: Outcome, tookMs: number): void {
    this.#recipients.ended(job, outcome, tookMs)
    this.#wakeLanesWithRoom(job.recipient)
  }

  /** A postponed job that is due at once stays in its lane, which is either. */
  #noteDue({ job, result, nextAttemptInMs }: Settled): void {
    if (nextAttemptInMs === null || this.#recipients.isCircuitOpen(job.recipient)) return
    this.#wakeLaneIn('retry', nextAttemptInMs)
    if (result === 'postponed') this.#wakeLaneIn('first', nextAttemptInMs)
  }

  /** An attempt has ended or was settled: one of the recipient, where that may have a free slot now. */
  #wakeLanesWithRoom(recipient: string | null): void {
    const fetcher = this.#fetcher
    for (const lane of LANES) {
      if (this.#lanes[lane].mayBringMore(recipient) && fetcher.room(lane) > 0) this.#wakeLane(lane)
    }
    // Without a fetch of retries: one for each attempt would find nothing.
    if (this.#mayClaimMore && fetcher.room('retry') > 0) this.#sleeps.retry.wake()
  }

  /** Once for all jobs of one step. */
  #wakeLaneIn(lane: LaneName, ms: number): void {
    if (ms > FARTHEST_WAKE_MS) return
    const now = performance.now()
    // Rounded up: a fetch that comes too early finds nothing.
    // What is overdue since the outcome was recorded is due now.
    const step = Math.ceil((now + Math.max(0, ms)) / WAKE_STEP_MS)
    const wake = `${lane} ${step}`
    if (this.#wakes.has(wake)) return
    this.#wakes.add(wake)
    new Timer(() => {
      this.#wakes.delete(wake)
      this.#wakeLane(lane)
    }).set(step * WAKE_STEP_MS - now)
  }

  #wakeLane(lane: LaneName): void {
    this.#lanes[lane].expect()
    this.#sleeps[lane].wake()
  }
}
