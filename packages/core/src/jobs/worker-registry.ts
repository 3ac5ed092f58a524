/** The workers of this process: one pump for each queue. */
import type { Job } from './job.ts'
import type { Pump } from './pump/pump.ts'
import type { Worker } from './worker.ts'
import type { WorkerNotifications } from './worker-notifications.ts'

/** What a publish may claim of the jobs that follow from it. */
export interface JobOffer {
  /** Names the process in the jobs that it claims, see processes/process-lock.ts. */
  owner: string
  /** Free slots for attempts, by the name of their queue. */
  room: ReadonlyMap<string, number>
  /** Recipients that have all the slots that they may have. */
  fullRecipients: string[]
  /**
   * Jobs of restricted recipients that are done here, and not settled yet; `null`: it claims no job of an order. The
   * transaction of such a claim locks the row of the recipient until its commit.
   */
  endedJobs: string[] | null
}

interface Parts {
  /** See {@link JobOffer}. */
  owner: string
  /** Whether this process works on jobs at all: the option `worker.enabled`. */
  enabled: boolean
  notifications: WorkerNotifications
  work: { addWorker(worker: Worker): void; run(): Promise<void> }
  createPump(worker: Worker): Pump
}

export class WorkerRegistry {
  #parts: Parts
  #workers = new Map<string, Worker>()
  #pumps = new Map<string, Pump>()
  /** Of workers that were removed: their attempts have not ended. */
  #stopping = new Set<Pump>()
  #watchers = new Set<() => void>()
  #started = false
  #listening = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The worker's pump starts with the registry, or at once where that has started. */
  add<Data, Prepared, Detail>(typed: Worker<Data, Prepared, Detail>): void {
    // The pump hands a worker's own values back to it, and does not read them.
    const worker = typed as Worker
    this.#parts.work.addWorker(worker)
    this.#workers.set(worker.queue, worker)
    if (!this.#parts.enabled) return
    const pump = this.#parts.createPump(worker)
    this.#pumps.set(worker.queue, pump)
    if (this.#started) this.#start(pump)
  }

  start(): void {
    this.#started = true
    for (const pump of this.#pumps.values()) this.#start(pump)
  }

  /** Ends the worker of one queue. Until its attempts have ended, its jobs are held here. */
  async remove(queue: string): Promise<void> {
    const pump = this.#pumps.get(queue)
    this.#workers.delete(queue)
    if (!pump) return
    this.#pumps.delete(queue)
    this.#stopping.add(pump)
    await pump.stop().finally(() => this.#stopping.delete(pump))
  }

  async stop(): Promise<void> {
    const stopping = [...this.#pumps.values()].map((pump) => pump.stop())
    // Other processes were not notified of the jobs that this one would have claimed next.
    this.#passOn()
    await Promise.all(stopping).finally(() => this.#passOn())
  }

  #passOn(): void {
    for (const queue of this.#pumps.keys()) this.#parts.notifications.wake(queue, null)
  }

  /** See `Queues`. */
  onActivity(watcher: () => void): void {
    this.#watchers.add(watcher)
  }

  /**
   * Runs the statement of a publish, which commits at once, with what it may claim. Begins what it has
   * claimed.
   */
  async claiming<Written extends { claimed: ReadonlyMap<string, Job[]> }>(
    write: (offer: JobOffer | undefined) => Promise<Written>,
  ): Promise<Written> {
    const written = await write(this.offer())
    for (const [queue, jobs] of written.claimed) this.#pumps.get(queue)?.beginCommitted(jobs)
    if (written.claimed.size > 0) this.notifyWatchers()
    return written
  }

  /** `undefined`: no slot is free. */
  offer(): JobOffer | undefined {
    const room = new Map<string, number>()
    const fullRecipients: string[] = []
    let endedJobs: string[] | null = null
    for (const [queue, pump] of this.#pumps) {
      const free = pump.roomForPublish()
      if (free === 0) continue
      room.set(queue, free)
      fullRecipients.push(...pump.fullRecipients())
      const { endedJobs: its } = pump
      if (its !== null) endedJobs = [...(endedJobs ?? []), ...its]
    }
    const { owner } = this.#parts
    return room.size === 0 ? undefined : { owner, room, fullRecipients, endedJobs }
  }

  /** All queues that this process has a worker for, also where it does not work on jobs. */
  queues(): string[] {
    return [...this.#workers.keys()]
  }

  /** Also where this process does not work on jobs. */
  workerOf(queue: string): Worker | undefined {
    return this.#workers.get(queue)
  }

  /** Attempts that this process is making, by queue. */
  inFlight(): [queue: string, attempts: number][] {
    return [...this.#pumps].map(([queue, pump]) => [queue, pump.inFlight])
  }

  holds(queue: string, jobId: string): boolean {
    const pumps = [this.#pumps.get(queue), ...this.#stopping]
    return pumps.some((pump) => pump?.holds(jobId))
  }

  /** Begins those jobs of a publish that were not rolled back: see `Pump`. */
  beginIfCommitted(queue: string, jobs: Job[]): void {
    void this.#pumps.get(queue)?.beginIfCommitted(jobs)
  }

  async probe(queue: string, recipient: string): Promise<boolean> {
    return (await this.#pumps.get(queue)?.probe(recipient)) ?? false
  }

  stopClaiming(): void {
    for (const pump of this.#pumps.values()) pump.stopClaiming()
  }

  /**
   * There may be jobs, and that is committed: the pumps of all processes look at once. New ones; with `recipients`
   * those aside of these; `null`: of all kinds.
   */
  wake(queue: string, recipients?: readonly string[] | null): void {
    this.wakeHere(queue, recipients)
    this.#parts.notifications.wake(queue, recipients)
  }

  /** The same in this process alone. */
  wakeHere(queue: string, recipients?: readonly string[] | null): void {
    this.#pumps.get(queue)?.wake(recipients)
    if (!recipients) this.notifyWatchers()
  }

  /** Recipients have changed, and that is committed: all processes read it. */
  recipientsChanged(queue: string): void {
    this.#recipientsChangedHere(queue)
    this.#parts.notifications.recipientsChanged(queue)
  }

  #start(pump: Pump): void {
    if (!this.#listening) {
      this.#parts.notifications.listen({
        claimsNext: (queue, recipient) => this.#pumps.get(queue)?.claimsNext(recipient) ?? false,
        wake: (queue, recipients) => this.wakeHere(queue, recipients),
        recipientsChanged: (queue) => this.#recipientsChangedHere(queue),
      })
    }
    this.#listening = true
    pump.start()
  }

  notifyWatchers = (): void => {
    for (const watcher of this.#watchers) watcher()
  }

  #recipientsChangedHere(queue: string): void {
    this.#pumps.get(queue)?.recipientsChanged()
    this.notifyWatchers()
    void this.#parts.work.run()
  }
}
