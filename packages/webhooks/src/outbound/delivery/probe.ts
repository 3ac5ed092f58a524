/** Probes webhooks that are disabled as failing: one attempt shows whether the receiver works again. */
import {
  findPayloads,
  findPayloadSizes,
  retainEvents,
  tenantOfEvent,
  uuidv7,
  type Core,
  type Db,
  type DeadLetter,
} from '@svc/core/internal'
import { insertLogRows } from '../../tables/delivery-log.ts'
import { open } from '../../tables/sealed-columns.ts'
import { endProbes, PORTION, takeProbes } from '../../tables/webhook-health.ts'
import {
  findWebhooksForDelivery,
  type WebhookForDelivery,
} from '../../tables/webhooks-for-delivery.ts'
import { QUEUE, waitingOf, attemptCountOf, type DeliveryData } from '../delivery-queue.ts'
import { TEST_EVENT } from '../described-event.ts'
import { makeAttempt, type AttemptSettings } from './attempt.ts'
import { ByteBudget } from './byte-budget.ts'
import { tracedAttempt } from './delivery-telemetry.ts'
import { insertAccepted, rowOf, type AttemptRecord } from './record-deliveries.ts'
import type { Delivery } from './request.ts'
import type { Post } from '../http/post.ts'
import { reactivate, reactivateIn } from '../health/disable-and-resume.ts'

/** What a probe may take besides its attempt. */
const PROBE_MARGIN_SECONDS = 5

/**
 * When a probe is due again if a delivery waits but its attempt could not begin. Either another
 * transaction has locked the job, for example to move it, or this process has no free slot.
 */
const PROBE_AGAIN_SECONDS = 0.5

/** How many portions one check takes. The others are left to the next one, in whichever process. */
const MOST_PORTIONS = 20

/** Payloads of dead letters in memory at a time. */
const MAX_BYTES = 32 * 1024 * 1024

/** How many dead letters are read. Those that went to another address than the webhook's are passed over. */
const MOST_LETTERS = 100

/** How often the table is checked for probes that are due. */
export const checkEverySeconds = (probeEverySeconds: number): number =>
  Math.min(10, Math.max(0.5, probeEverySeconds / 4))

export class Probes {
  #core: Core
  #post: Post
  #settings: AttemptSettings
  #everySeconds: number
  /** Webhooks whose probes have ended, but whose rows were locked then. */
  #locked = new Set<string>()
  #budget = new ByteBudget(MAX_BYTES)

  constructor(core: Core, post: Post, settings: AttemptSettings, everySeconds: number) {
    this.#core = core
    this.#post = post
    this.#settings = settings
    this.#everySeconds = everySeconds
  }

  /**
   * Makes the probes that are due. One that succeeds resumes its webhook, see disable-and-resume.ts. `stopping`
   * ends the attempts that are under way: they change nothing.
   */
  async run(stopping: AbortSignal): Promise<void> {
    const { db, pauses } = this.#core
    if (await pauses.holds(QUEUE)) return
    const again = [...this.#locked]
    this.#locked.clear()
    await this.end(db, again)
    // No second probe begins while one may be under way, in whichever process.
    const longestSeconds = this.#settings.deliveryTimeoutMs / 1000 + PROBE_MARGIN_SECONDS
    const turnSeconds = Math.max(this.#everySeconds, longestSeconds)
    for (let portions = 0; portions < MOST_PORTIONS && !stopping.aborted; portions++) {
      const ids = await takeProbes(db, this.#everySeconds, turnSeconds)
      await this.#probeAll(ids, stopping)
      if (ids.length < PORTION) return
    }
  }

  /**
   * The probes of these webhooks have ended without success: the next ones are due in their time. Where a row is
   * locked, for example as its attempts are counted, the next check ends the probe.
   */
  async end(db: Db, ids: string[], seconds = this.#everySeconds): Promise<void> {
    for (const id of await endProbes(db, ids, seconds)) this.#locked.add(id)
  }

  /** A waiting delivery is attempted by the pump, which has its slots and its order. */
  async #probeAll(ids: string[], stopping: AbortSignal): Promise<void> {
    const { db, queues, cipher, log } = this.#core
    const left: string[] = []
    for (const id of ids) if (!(await queues.probe(QUEUE, id))) left.push(id)
    if (left.length === 0) return
    const waiting = await waitingOf({ queues }, db, left, 1)
    const isWaiting = (id: string): boolean => (waiting.get(id) ?? 0) > 0
    await this.end(db, left.filter(isWaiting), PROBE_AGAIN_SECONDS)
    const idle = await findWebhooksForDelivery(
      db,
      left.filter((id) => !isWaiting(id)),
    )
    await Promise.all(
      idle.map(async (webhook) => {
        try {
          if (!webhook.active) await this.#probe(open(cipher, webhook.id, webhook), stopping)
        } catch (error) {
          if (stopping.aborted) return
          const details = { err: error as Error, webhookId: webhook.id }
          log.warn(details, 'could not probe a disabled webhook; it is probed again')
        }
      }),
    )
    const probed = idle.map(({ id }) => id)
    if (!stopping.aborted) await this.end(db, probed)
  }

  /** Without a waiting delivery: with the newest dead letter, or with a test where there is none to send. */
  async #probe(webhook: WebhookForDelivery, stopping: AbortSignal): Promise<void> {
    const letter = await this.#newestLetter(webhook.id)
    if (letter !== undefined && (await this.#probeWithLetter(webhook, letter, stopping))) return
    await this.#probeWithTest(webhook, stopping)
  }

  async #newestLetter(webhookId: string): Promise<DeadLetter<DeliveryData> | undefined> {
    const { db, queues } = this.#core
    const filter = { recipient: webhookId, limit: MOST_LETTERS }
    const letters = await queues.deadLetters<DeliveryData>(db, QUEUE, filter)
    return letters.find(({ data }) => data.url === undefined)
  }

  /** Returns whether a request was sent. Only a success changes the dead letter: it is none any more. */
  async #probeWithLetter(
    webhook: WebhookForDelivery,
    letter: DeadLetter<DeliveryData>,
    stopping: AbortSignal,
  ): Promise<boolean> {
    const { event: name, eventId, payload: inline } = letter.data
    const event = eventId === null ? null : { name, id: eventId }
    const [size] = event === null ? [] : await findPayloadSizes(this.#core.db, [event])
    const bytes = size?.bytes ?? 0
    const reservation = await this.#budget.reserve(webhook.id, bytes, stopping)
    try {
      const [stored] = event === null ? [] : await findPayloads(this.#core.db, [event])
      const payload = stored?.payload ?? inline
      if (payload === undefined) return false
      const attempt = attemptCountOf(letter) + 1
      const tenant = eventId === null ? null : tenantOfEvent(eventId)
      const times = stored === undefined ? {} : { publishedAt: stored.publishedAt }
      const delivery = { ...letter.data, ...times, payload, attempt, tenant }
      const record = await this.#attempt(webhook, delivery, stopping)
      if (record === null) return false
      if (record.error === null) await this.#revive(webhook, letter, record)
      else await insertLogRows(this.#core.db, [rowOf(letter.data, record, 'failed', null)])
      return true
    } finally {
      reservation.release()
    }
  }

  /** The dead letter is delivered, and its webhook resumes, in one transaction. */
  async #revive(
    { id, url }: WebhookForDelivery,
    letter: DeadLetter<DeliveryData>,
    record: AttemptRecord,
  ): Promise<void> {
    const { queues } = this.#core
    const { event: name, eventId } = letter.data
    await this.#core.transaction(async (db) => {
      await reactivateIn(this.#core, db, id, url)
      await queues.deleteDeadLetter(db, QUEUE, letter.id)
      await insertAccepted(this.#core, db, [rowOf(letter.data, record, 'delivered', null)])
      const days = this.#settings.deliveryLogRetentionDays
      if (eventId !== null) await retainEvents(db, [{ name, id: eventId }], days)
      this.#core.afterCommit(db, () => queues.recipientsChanged(QUEUE))
    })
  }

  /** A test has no job and no row in the log. */
  async #probeWithTest(webhook: WebhookForDelivery, stopping: AbortSignal): Promise<void> {
    const { id: webhookId, url } = webhook
    const payload = JSON.stringify({ webhookId, sentAt: new Date().toISOString() })
    const test = { event: TEST_EVENT, payload, deliveryId: uuidv7(), attempt: 1, isTest: true }
    const record = await this.#attempt(webhook, test, stopping)
    if (record?.error === null) await reactivate(this.#core, webhookId, url)
  }

  /** `null` where no request was sent: because of the transform of the webhook. */
  async #attempt(
    webhook: WebhookForDelivery,
    delivery: Delivery,
    stopping: AbortSignal,
  ): Promise<AttemptRecord | null> {
    const { event, deliveryId, attempt } = delivery
    const named = { event, webhookId: webhook.id, deliveryId, attempt }
    const { tracer } = this.#core.telemetry
    const step = await tracedAttempt(tracer, named, webhook.url, (traceContext) =>
      makeAttempt(
        this.#post,
        this.#settings,
        webhook,
        { ...delivery, isProbe: true, traceContext },
        stopping,
      ),
    )
    if (step.kind === 'cancelled') return null
    return step.detail.error === 'transform' ? null : step.detail
  }
}
