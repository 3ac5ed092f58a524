/**
 * The loops that turn the waiting jobs of a queue into attempts. pg-boss's own `work()` sleeps
 * between fetches, waits for a whole batch before the next, and wakes every worker at each
 * notification. The pump refills its slots as attempts end, and settles outcomes in batches.
 */
import type { Database } from '../../postgres/pools.ts'
import { RecipientScheduler } from '../recipients/recipient-scheduler.ts'
import { LANES, type Job, type Lane as LaneName } from '../job.ts'
import { QueueTable } from '../pg-boss/queue-table.ts'
import type { AttemptTelemetry } from '../../telemetry/attempt-telemetry.ts'
import type { Outcome, Worker } from '../worker.ts'
import type { Pauses } from '../pauses.ts'
import { Attempts } from './attempts.ts'
import { DirectClaims } from './direct-claims.ts'
import { Fetcher } from './fetcher.ts'
import { FetchAhead } from './fetch-ahead.ts'
import { Lane, roomOfFetch } from './lane.ts'
import { LaneDueTimes } from './due-times.ts'
import { LaneLoops, type PumpLog } from './lane-loops.ts'
import { OutcomeBuffer } from './outcome-buffer.ts'
import { IDLE_AFTER_MS } from './poll-interval.ts'
import type { QueuePolls } from './queue-polls.ts'
import { RetryLane } from './retry-lane.ts'
import { mayWait, settleBatch } from './settle.ts'
import { Slots } from './slots.ts'

interface Parts {
  worker: Worker
  database: Pick<Database, 'workerPool' | 'background'>
  polls: QueuePolls
  log: PumpLog
  /** Names this process in the jobs that it claims. */
  owner: string
  /** Whether this process receives notifications. */
  isNotified: () => boolean
  /** This pump has written to the table of recipients: other processes read it again. */
  recipientsWritten(): void
  /** Outcomes have been settled. */
  settled(): void
  /** A fetch has failed. */
  fetchFailed: () => void
  telemetry: AttemptTelemetry
  /** See `Attempts`. */
  asAtBoot: <T>(run: () => T) => T
  pauses: Pick<Pauses, 'has' | 'holds' | 'mayHold'>
}

const DRAIN_SECONDS = 10
/** How long a paused queue waits before it asks again, unless it is told. */
const PAUSED_MS = 1000
const PAUSED_NOTIFIED_MS = 10_000

export class Pump {
  readonly worker: Worker
  /** Claims without a fetch. */
  readonly claims: DirectClaims
  #recipients: RecipientScheduler
  #fetcher: Fetcher
  #attempts: Attempts
  #outcomes: OutcomeBuffer
  /** The jobs that this process has claimed and not settled, by their ids. */
  #held = new Map<string, Job>()
  #lanes: Record<LaneName, Lane>
  #retryLane: RetryLane
  #loops: LaneLoops
  #slots: Slots
  #dueTimes = new LaneDueTimes((lane) => this.#wakeLane(lane))
  #isStopping = false

  constructor(parts: Parts) {
    const { worker, database, log, owner, isNotified, pauses } = parts
    const { queue } = worker
    const db = database.workerPool
    this.worker = worker
    const table = new QueueTable(queue)
    const slots = new Slots(worker.concurrency)
    const fetchAhead = new FetchAhead(worker.concurrency)
    const recipients = new RecipientScheduler({
      queue,
      table,
      withoutRecipients: worker.withoutRecipients === true,
      read: worker.read,
      windows: slots.windows,
      database,
      log,
      owner,
      isNotified,
      changed: () => parts.recipientsWritten(),
      wake: () => this.#wakeLane('retry'),
      moved: () => this.wakeAll(),
      wakeClaims: () => this.#loops.wake('retry'),
    })
    const held = this.#held
    const outcomes = new OutcomeBuffer({
      mayWait: (outcome) => worker.settlesTogether === true && mayWait(outcome),
      settle: async (batch, lockMs, isRecorded) => {
        const recorder = isRecorded ? worker : { queue }
        await settleBatch(db, recorder, batch, lockMs, (settled) => {
          for (const one of settled) {
            if (!recipients.isCircuitOpen(one.job.recipient)) this.#dueTimes.note(one)
          }
        })
      },
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
      telemetry: parts.telemetry,
      asAtBoot: parts.asAtBoot,
      log,
      isPaused: () => pauses.has(queue),
      began: (job) => recipients.restricted.begun(job),
      ended: (job, outcome, tookMs) => this.#attemptEnded(job, outcome, tookMs),
    })
    const fetcher = new Fetcher({ slots, fetchAhead, recipients, held, attempts, outcomes })
    const ofLane = {
      withoutRecipients: worker.withoutRecipients === true,
      table,
      db: db.prepared,
      polls: parts.polls,
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
    const retries = new Lane({
      ...ofLane,
      lane: 'retry',
      room: () => RetryLane.room(fetcher, first),
    })
    const giveBack = (jobs: Job[]) => {
      for (const job of jobs) outcomes.add({ job, outcome: { kind: 'postponed', delayMs: 0 } })
    }
    const isPaused = () => pauses.mayHold(queue)
    const ofClaims = {
      queue,
      db,
      owner,
      slots,
      recipients,
      fetcher,
      first,
      giveBack,
      isPaused,
      log,
    }
    this.claims = new DirectClaims(ofClaims)
    const wakeLanesWithRoom = () => this.#wakeLanesWithRoom(null)
    this.#slots = slots
    this.#recipients = recipients
    this.#outcomes = outcomes
    this.#attempts = attempts
    this.#fetcher = fetcher
    this.#lanes = { first, retry: retries }
    this.#retryLane = new RetryLane({
      fetcher,
      recipients,
      first,
      retries,
      slots,
      wakeLanesWithRoom,
    })
    const unlessPaused = (refill: () => Promise<number>) => async () =>
      (await pauses.holds(queue)) ? (isNotified() ? PAUSED_NOTIFIED_MS : PAUSED_MS) : refill()
    const refills = {
      first: unlessPaused(() => first.fill()),
      retry: unlessPaused(() => this.#retryLane.refill()),
    }
    const { fetchFailed } = parts
    const inTurns = worker.concurrency === 1
    this.#loops = new LaneLoops({ queue, inTurns, refills, fetchFailed, log })
  }

  start(): void {
    this.#loops.start()
    this.claims.open()
  }

  /** Attempts that are being made. */
  get inFlight(): number {
    return this.#slots.running
  }

  /** Whether this process works on the job, or settles it. */
  holds(jobId: string): boolean {
    return this.#held.has(jobId)
  }

  /** How long no job has come. */
  get idleMs(): number {
    return this.#fetcher.idleMs
  }

  /** Recipients that have all the slots that they may have. */
  fullRecipients(): string[] {
    return this.#recipients.full()
  }

  /** See `JobOffer`. */
  get endedJobs(): string[] | null {
    return this.#recipients.restricted.endedJobs
  }

  /** Whether this process claims the next job of this restricted recipient by itself, and has a slot for it. */
  claimsNext(recipient: string): boolean {
    return (
      !this.#isStopping && this.#slots.mayStart('retry') && this.#recipients.claimsNext(recipient)
    )
  }

  /** There may be new jobs. */
  wake(): void {
    this.#wakeLane('first')
    // Redriven and resumed jobs wait in the retry lane, which an idle pump rarely polls.
    if (this.idleMs > IDLE_AFTER_MS) this.#wakeLane('retry')
  }

  /** There are jobs in either lane. */
  wakeAll(): void {
    for (const lane of LANES) this.#wakeLane(lane)
  }

  /** The table of recipients has changed. */
  recipientsChanged(): void {
    this.#recipients.refreshSoon()
    this.#recipients.recipientsReady(null)
  }

  /** There are jobs to claim of these recipients; `null`: of any restricted one. */
  recipientsReady(recipients: readonly string[] | null): void {
    this.#recipients.recipientsReady(recipients)
  }

  /**
   * Fetches no more, gives attempts `drainSeconds` to end, aborts the others and puts their jobs
   * back, and settles all outcomes.
   */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.claims.close()
    await this.#loops.stop()
    await this.#attempts.stop((this.worker.drainSeconds ?? DRAIN_SECONDS) * 1000)
    await this.#recipients.stop()
    await this.#outcomes.close()
    this.#dueTimes.stop()
  }

  #attemptEnded(job: Job, outcome: Outcome, tookMs: number): void {
    this.#outcomes.add({ job, outcome, endedAt: performance.now() })
    this.#recipients.ended(job, outcome, tookMs)
    this.#wakeLanesWithRoom(job.recipient)
  }

  /** An attempt has ended or was settled: one of the recipient, where that may have a free slot now. */
  #wakeLanesWithRoom(recipient: string | null): void {
    const fetcher = this.#fetcher
    for (const lane of LANES) {
      if (this.#lanes[lane].mayBringMore(recipient) && fetcher.room(lane) > 0) this.#wakeLane(lane)
    }
    // Without a fetch of retries: one for each attempt would find nothing.
    if (this.#retryLane.mayClaimMore && this.#fetcher.room('retry') > 0) this.#loops.wake('retry')
  }

  #wakeLane(lane: LaneName): void {
    this.#lanes[lane].expect()
    this.#loops.wake(lane)
  }
}
