/** The operations on deliveries. */
import { InvalidInput, PayloadMismatch } from '@svc/core'
import {
  EVERYWHERE,
  retainEvents,
  shapeOf,
  uuidOf,
  uuidv7,
  type Core,
  type Db,
} from '@svc/core/internal'
import {
  AddressNotAllowed,
  DeliveriesPaused,
  DeliveryNotFound,
  EventNotAllowed,
  NoExample,
  NoUrl,
  UnknownTransform,
  UrlRefused,
  WebhookInactive,
  WebhookNotFound,
} from '../errors.ts'
import { QUEUE, type DeliveryData } from '../outbound/delivery-queue.ts'
import {
  makeAttempt,
  type AttemptSettings,
  type AttemptStep,
} from '../outbound/delivery/attempt.ts'
import { tracedAttempt } from '../outbound/delivery/delivery-telemetry.ts'
import { TEST_EVENT, type DescribedEvent } from '../outbound/described-event.ts'
import { rowOf } from '../outbound/delivery/record-deliveries.ts'
import { urlProblem, type IsBlocked } from '../outbound/http/blocked-addresses.ts'
import type { Post } from '../outbound/http/post.ts'
import { TestInput } from '../schemas.ts'
import {
  DeliverInput,
  QueuedDelivery,
  RedeliverInput,
  type DeliveryAttempt,
  type DeliveryStatus,
} from '../delivery-schemas.ts'
import { insertLogRows } from '../tables/delivery-log.ts'
import { findDelivery } from '../tables/delivery-lists.ts'
import { open } from '../tables/sealed-columns.ts'
import { lockWebhooks } from '../tables/webhooks.ts'
import { findWebhooksForDelivery } from '../tables/webhooks-for-delivery.ts'
import { auditWork } from '../outbound/audit.ts'
import { existing, foundWebhook, isHidden, operation, webhookIdOf, type Caller } from '../caller.ts'
import { parsed } from './delivery-lists.ts'

export interface DeliverySettings extends AttemptSettings {
  isBlocked: IsBlocked
  events: readonly DescribedEvent[]
}

const NEVER_ABORTED = new AbortController().signal

export function deliveryOperations(core: Core, post: Post, settings: DeliverySettings) {
  return {
    /** Makes one attempt now and writes it to the log; a failure is not tried again. */
    deliver: operation({
      input: DeliverInput,
      output: shapeOf<DeliveryAttempt>(),
      writes: true,
      async run(by, input) {
        const { reach } = by
        const { event, payload, deliveryId, attempt } = input
        const webhookId = webhookIdOf(input.webhookId)
        const db = by.db ?? core.requestDb
        if (reach !== EVERYWHERE) await foundWebhook(db, webhookId, by)
        const [webhook] = await findWebhooksForDelivery(db, [webhookId])
        if (webhook === undefined) throw new WebhookNotFound(webhookId)
        if (webhook.url === '') throw new NoUrl(webhookId)
        if (!webhook.active) throw new WebhookInactive(webhookId)
        if (webhook.paused || (await core.pauses.holds(QUEUE))) throw new DeliveriesPaused()
        const text = JSON.stringify(payload)
        const named = { event, webhookId, deliveryId, attempt }
        const opened = open(core.cipher, webhookId, webhook)
        const { tracer } = core.telemetry
        const step = await tracedAttempt(tracer, named, webhook.url, (traceContext) => {
          const delivery = { event, payload: text, deliveryId, attempt, traceContext }
          return makeAttempt(post, settings, opened, delivery, NEVER_ABORTED)
        })
        if (step.kind === 'unsent' && step.isLacking) {
          throw new UnknownTransform(
            webhook.transform ?? '',
            [...settings.transforms.keys()].join(', '),
          )
        }
        const data = { event, eventId: null, recipient: webhookId, deliveryId, payload: text }
        const row = rowOf(data, step.detail, statusOf(step.kind), null)
        await insertLogRows(db, [row])
        return parsed(row)
      },
    }),

    redeliver: operation({
      input: RedeliverInput,
      output: QueuedDelivery,
      writes: true,
      routes: {
        'POST /:id/deliveries/:deliveryId/redeliver': {
          names: { id: 'webhookId' },
          status: 202,
          summary: 'Queue a delivery once more, under a new delivery id',
        },
      },
      async run(by, { url, ...input }) {
        const webhookId = webhookIdOf(input.webhookId)
        const deliveryId = uuidOf(input.deliveryId)
        const work = { action: 'redeliver', from: deliveryId ?? input.deliveryId, url, by }
        return await queueDelivery(core, webhookId, work, async (db) => {
          // Checked here, and not before: for a caller that does not reach it the webhook does not exist.
          if (url !== undefined) assertAddress(url, settings.isBlocked, by)
          if (deliveryId === undefined) throw new DeliveryNotFound(input.deliveryId)
          const days = settings.deliveryLogRetentionDays
          const row = await findDelivery(db, days, webhookId, deliveryId)
          const delivery = row ?? (await findDead(core, db, webhookId, deliveryId))
          if (delivery === undefined || isHidden(by, delivery.event)) {
            throw new DeliveryNotFound(deliveryId)
          }
          // The log shows the payload of the new attempt for as long again.
          const { event: name, eventId } = delivery
          if (eventId !== null) await retainEvents(db, [{ name, id: eventId }], days)
          return delivery
        })
      },
    }),

    test: operation({
      input: TestInput,
      text: 'id',
      output: QueuedDelivery,
      writes: true,
      routes: {
        'POST /:id/test': {
          status: 202,
          summary:
            'Send a webhook.test event, or an event with its example or a payload of your own, to this webhook alone',
        },
      },
      async run(by, { event = TEST_EVENT, payload: own, ...input }) {
        const id = webhookIdOf(input.id)
        const work = { action: 'test', from: null, url: undefined, by }
        return await queueDelivery(core, id, work, async () => {
          const payload =
            own === undefined
              ? JSON.stringify(exampleOf(settings.events, event, id))
              : ownPayload(core, settings.events, event, own)
          return { event, eventId: null, payload, isTest: true }
        })
      },
    }),
  }
}

function statusOf(kind: Exclude<AttemptStep['kind'], 'postponed'>): DeliveryStatus {
  if (kind === 'completed') return 'delivered'
  return kind === 'cancelled' ? 'skipped' : 'failed'
}

/** The content of a delivery; with a payload only if no stored event has it. */
type ToDeliver = Pick<DeliveryData, 'event' | 'eventId' | 'isTest'> & { payload?: string | null }

/** The caller that sends a delivery, and which delivery it repeats. */
interface WorkRequest {
  action: string
  from: string | null
  /** The address that it goes to instead of the webhook's own. */
  url: string | undefined
  by: Caller
}

/**
 * Queues a delivery with an id of its own to one webhook; where that is inactive it waits.
 * What goes to another address is held up by nothing that holds the deliveries of the webhook.
 */
async function queueDelivery(
  core: Core,
  webhookId: string,
  { action, from, url, by }: WorkRequest,
  find: (db: Db) => Promise<ToDeliver>,
): Promise<QueuedDelivery> {
  const deliveryId = uuidv7()
  await core.within(by.db, async (db) => {
    const [locked] = await lockWebhooks(db, [webhookId], by.reach)
    const webhook = existing(webhookId, locked)
    if (webhook.url === null && url === undefined) throw new NoUrl(webhookId)
    const place = url === undefined ? {} : { outOfTurn: true }
    const { event, eventId, payload, isTest } = await find(db)
    const inline = typeof payload === 'string' ? { payload } : {}
    const askedIn = core.telemetry.tracer?.active()
    const data: DeliveryData = {
      event,
      eventId,
      recipient: webhookId,
      deliveryId,
      ...inline,
      ...(url === undefined ? {} : { url }),
      ...(isTest === true ? { isTest } : {}),
      ...(askedIn ? { askedIn } : {}),
    }
    await core.queues.insert(db, QUEUE, [{ id: deliveryId, data, recipient: webhookId, ...place }])
    await auditWork(db, by.origin, action, webhook, {
      deliveryId: { from, to: deliveryId },
      ...(url === undefined ? {} : { url: { from: null, to: url } }),
    })
    core.afterCommit(db, () => core.queues.wake(QUEUE))
  })
  return { deliveryId }
}

/** @throws AddressNotAllowed, UrlRefused */
function assertAddress(url: string, isBlocked: IsBlocked, { reach, isAdmin }: Caller): void {
  if (reach !== EVERYWHERE || !isAdmin) throw new AddressNotAllowed()
  const problem = urlProblem(url, isBlocked)
  if (problem !== null) throw new UrlRefused(problem)
}

/** @throws EventNotAllowed, NoExample */
function exampleOf(events: readonly DescribedEvent[], name: string, webhookId: string): unknown {
  if (name === TEST_EVENT) return { webhookId, sentAt: new Date().toISOString() }
  const event = allowed(events, name)
  if (!event.hasExample) throw new NoExample(name)
  return event.example
}

/** It is a column of its job: it has the size of a message, not of a file. */
const MOST_BYTES_OF_TEST = 256 * 1024

/** @throws EventNotAllowed, InvalidInput */
function ownPayload(
  { catalogue }: Core,
  events: readonly DescribedEvent[],
  name: string,
  given: unknown,
): string {
  if (name !== TEST_EVENT) allowed(events, name)
  const payload = jsonOf(given)
  const bytes = Buffer.byteLength(payload)
  if (bytes > MOST_BYTES_OF_TEST) {
    throw new InvalidInput(
      `payload has ${bytes} bytes as JSON; of a test it has at most ${MOST_BYTES_OF_TEST}`,
    )
  }
  try {
    catalogue.check(name, payload)
  } catch (error) {
    // Of a publish it is a fault of the host, here one of the caller.
    if (error instanceof PayloadMismatch) throw new InvalidInput(error.message)
    throw error
  }
  return payload
}

/** As a publish says it. @throws InvalidInput */
function jsonOf(payload: unknown): string {
  try {
    return JSON.stringify(payload)
  } catch (error) {
    throw new InvalidInput(
      `a payload must be something that JSON can write: ${(error as Error).message}`,
    )
  }
}

/** @throws EventNotAllowed */
function allowed(events: readonly DescribedEvent[], name: string): DescribedEvent {
  const event = events.find((one) => one.name === name)
  if (event !== undefined) return event
  throw new EventNotAllowed(name, [TEST_EVENT, ...events.map((one) => one.name)].join(', '))
}

/** Dead letters are kept longer than the log. */
async function findDead(
  core: Core,
  db: Db,
  webhookId: string,
  deliveryId: string,
): Promise<ToDeliver | undefined> {
  const filter = { recipient: webhookId, deliveryId, limit: 1 }
  const [letter] = await core.queues.deadLetters<DeliveryData>(db, QUEUE, filter)
  return letter?.data
}
