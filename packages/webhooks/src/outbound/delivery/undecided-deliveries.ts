/**
 * Decides the filters that the publish of an event has left to the delivery, and records how many
 * steps the filter of each webhook takes.
 */
import {
  compileFilterMatch,
  DeferredFilters,
  findPayloads,
  STEPS_OF_DEAR,
  subjectOf,
  UndecidedFilters,
  tenantOfEvent,
  Timer,
  type Core,
} from '@svc/core/internal'
import { writeFilterCosts } from '../../tables/webhooks.ts'
import type { DeliveryJob } from '../delivery-queue.ts'

/** A cost is written this long after the last one of any webhook. */
const WRITE_EVERY_MS = 10_000

/** How many deliveries are decided, or wait for it, in a slot of the worker. */
const MOST_IN_SLOTS = 4
/** About how long a decision takes, with the attempt that follows it. */
const DECISION_MS = 20

export class UndecidedDeliveries {
  #core: Pick<Core, 'db' | 'log'>
  #deferred = new DeferredFilters()
  #undecidable: UndecidedFilters
  #costs = new Map<string, number>()
  #writtenAt = -Infinity
  #timer = new Timer(() => this.#write())
  #inSlots = 0
  #turnAt = 0

  constructor(core: Pick<Core, 'db' | 'log'>) {
    this.#core = core
    this.#undecidable = new UndecidedFilters(core.log)
  }

  /**
   * How long a delivery has to wait outside of the worker until its filter is decided; `null`: it need
   * not wait. If all of them waited in the worker, they would hold the slots that other deliveries need.
   */
  turnInMs(): number | null {
    if (this.#inSlots < MOST_IN_SLOTS) return null
    const now = performance.now()
    this.#turnAt = Math.max(this.#turnAt, now) + DECISION_MS
    return this.#turnAt - now
  }

  /** Whether the event of an undecided delivery is to be sent. */
  async matches(job: DeliveryJob, payload: string): Promise<boolean> {
    this.#inSlots++
    try {
      return await this.#decide(job, payload)
    } finally {
      this.#inSlots--
    }
  }

  async #decide(job: DeliveryJob, payload: string): Promise<boolean> {
    const { event, eventId, filter } = job.data
    const tenant = eventId === null ? null : tenantOfEvent(eventId)
    const match = compileFilterMatch(filter)
    const changed = asksForChanges(filter) ? await this.#changedOf(job) : null
    const { isMatch, steps } = await this.#deferred.decide(match, () =>
      subjectOf(event, tenant, this.#deferred.parsed(payload), changed),
    )
    const webhookId = job.data.recipient
    if (steps > STEPS_OF_DEAR || isMatch === null) this.#note(webhookId, steps)
    if (isMatch === null) this.#undecidable.found([{ recipient: webhookId, why: 'costly' }])
    return isMatch === true
  }

  async #changedOf({ data, published }: DeliveryJob): Promise<string | null> {
    const { event: name, eventId: id } = data
    if (published || id === null) return published?.changed ?? null
    const [stored] = await findPayloads(this.#core.db, [{ name, id }], 0)
    return stored?.changed ?? null
  }

  #note(webhookId: string, steps: number): void {
    this.#costs.set(webhookId, steps)
    this.#timer.set(this.#writtenAt + WRITE_EVERY_MS - performance.now())
  }

  async #write(): Promise<void> {
    this.#writtenAt = performance.now()
    const costs = [...this.#costs]
    this.#costs.clear()
    try {
      await writeFilterCosts(this.#core.db, costs)
    } catch (error) {
      this.#core.log.warn(
        { err: error },
        'could not write how dear filters of webhooks are; the next evaluation writes it',
      )
    }
  }
}

const asksForChanges = (filter: unknown): boolean => JSON.stringify(filter).includes('"changed')
