/** Reads the webhooks and payloads that a batch of jobs needs. */
import { findPayloads, type Core, type Db } from '@svc/core/internal'
import { open } from '../../tables/sealed-columns.ts'
import {
  findWebhooksForDelivery,
  type WebhookForDelivery,
} from '../../tables/webhooks-for-delivery.ts'
import { eventKey, webhookIdOf, type DeliveryJob } from './delivery-job.ts'

export interface PreparedDelivery {
  /** Undefined where the webhook is deleted. */
  webhook: WebhookForDelivery | undefined
  /** Set where this host cannot decrypt its secrets. */
  isUnreadable?: boolean
  /** JSON text; undefined where the event is deleted. */
  payload: string | undefined
  /** The trace context of the publish; `null` where none was traced. */
  traceContext: string | null
  /** Set where the payload is large: it is read when its attempt begins. */
  largeBytes?: number
}

/** Smaller payloads are read with their batch of jobs. */
const LARGE_BYTES = 64 * 1024
export async function prepareDeliveries(
  core: Core,
  db: Db,
  jobs: DeliveryJob[],
): Promise<(job: DeliveryJob) => PreparedDelivery> {
  const wanted = new Map<string, { name: string; id: string }>()
  const webhookIds = new Set<string>()
  for (const { data, published } of jobs) {
    const { event: name, eventId: id } = data
    webhookIds.add(webhookIdOf(data))
    if (id !== null && !hasPayload(published)) wanted.set(eventKey(name, id), { name, id })
  }
  const [webhooks, events] = await Promise.all([
    findWebhooksForDelivery(db, [...webhookIds]),
    wanted.size === 0 ? [] : findPayloads(db, [...wanted.values()], LARGE_BYTES),
  ])
  const webhookOf = new Map(webhooks.map((webhook) => [webhook.id, opened(core, webhook)]))
  const eventOf = new Map(events.map((event) => [eventKey(event.name, event.id), event]))
  return ({ data, published }) => {
    const { event, eventId, payload } = data
    const webhook = webhookOf.get(webhookIdOf(data)) ?? { webhook: undefined }
    if (hasPayload(published)) {
      return { ...webhook, payload: published.payload, traceContext: published.traceContext }
    }
    const stored = eventId === null ? undefined : eventOf.get(eventKey(event, eventId))
    const largeBytes = stored && stored.bytes > LARGE_BYTES ? { largeBytes: stored.bytes } : {}
    return {
      ...webhook,
      payload: stored?.payload ?? payload,
      traceContext: stored?.traceContext ?? null,
      ...largeBytes,
    }
  }
}

/** One webhook whose secrets cannot be decrypted must not hold up the batch. */
function opened(
  core: Core,
  webhook: WebhookForDelivery,
): Pick<PreparedDelivery, 'webhook' | 'isUnreadable'> {
  try {
    return { webhook: open(core.cipher, webhook.id, webhook) }
  } catch (error) {
    core.log.error(
      { err: error, webhookId: webhook.id },
      'could not decrypt the secrets of a webhook; its deliveries are postponed',
    )
    return { webhook, isUnreadable: true }
  }
}

/** Whether the payload need not be read. A large one waits for its turn as any other. */
const hasPayload = (
  published: DeliveryJob['published'],
): published is NonNullable<DeliveryJob['published']> =>
  published !== undefined && Buffer.byteLength(published.payload) <= LARGE_BYTES
