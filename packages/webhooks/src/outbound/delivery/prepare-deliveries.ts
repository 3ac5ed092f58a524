/** Reads the webhooks and payloads that a batch of jobs needs. */
import { findPayloads, type Core, type Db, type StoredEvent } from '@svc/core/internal'
import { open } from '../../tables/sealed-columns.ts'
import {
  asWebhookForDelivery,
  findWebhooksForDelivery,
  type StoredForDelivery,
  type WebhookForDelivery,
} from '../../tables/webhooks-for-delivery.ts'
import { eventKey, type DeliveryJob } from '../delivery-queue.ts'

export interface PreparedDelivery {
  /** Undefined where the webhook is deleted. */
  webhook: WebhookForDelivery | undefined
  /** Set where this host cannot decrypt its secrets. */
  isUnreadable?: boolean
  /** JSON text; undefined where the event is deleted. */
  payload: string | undefined
  /** Of the event, a number in milliseconds; `null` where no event made the delivery. */
  publishedAt: Date | number | null
  /** The trace context of the publish; `null` where none was traced. */
  traceContext: string | null
  /** Set where the payload is large: it is read when its attempt begins. */
  largeBytes?: number
}

/** Smaller payloads are read with their batch of jobs: see "__svc.webhooks.read_delivery". */
const LARGE_BYTES = 64 * 1024

/** What is read by a claim has its times as numbers. */
type Payload = Pick<StoredEvent, 'payload' | 'bytes' | 'traceContext'> & {
  publishedAt: Date | number
}

/** What "__svc.webhooks.read_delivery" has read of one job together with its claim. */
interface ReadOfJob {
  webhook: StoredForDelivery | null
  event: Payload | null
}

export async function prepareDeliveries(
  core: Core,
  known: KnownWebhooks,
  db: Db,
  jobs: DeliveryJob[],
): Promise<(job: DeliveryJob) => PreparedDelivery> {
  const unread = jobs.filter(({ read }) => read === undefined)
  const wanted = new Map<string, { name: string; id: string }>()
  for (const { data, published } of unread) {
    const { event: name, eventId: id } = data
    if (id !== null && !hasPayload(published)) wanted.set(eventKey(name, id), { name, id })
  }
  const [webhookOf, events] = await Promise.all([
    findWebhooks(core, known, db, unread),
    wanted.size === 0 ? [] : findPayloads(db, [...wanted.values()], LARGE_BYTES),
  ])
  const eventOf = new Map(events.map((event) => [eventKey(event.name, event.id), event]))
  return (job) => {
    const { data, read } = job
    if (read !== undefined) {
      const { webhook, event } = read as ReadOfJob
      const its = webhook === null ? DELETED : opened(core, asWebhookForDelivery(webhook))
      return { ...its, ...contentOf(job, event ?? undefined) }
    }
    const its = webhookOf.get(data.recipient) ?? DELETED
    return { ...its, ...contentOf(job, eventOf.get(eventKey(data.event, data.eventId))) }
  }
}

function contentOf(
  { data, published }: DeliveryJob,
  stored: Payload | undefined,
): Pick<PreparedDelivery, 'payload' | 'publishedAt' | 'traceContext' | 'largeBytes'> {
  if (hasPayload(published)) {
    const { payload, publishedAt, traceContext } = published
    return { payload, publishedAt, traceContext }
  }
  const largeBytes = stored && stored.bytes > LARGE_BYTES ? { largeBytes: stored.bytes } : {}
  return {
    payload: stored?.payload ?? data.payload,
    publishedAt: stored?.publishedAt ?? null,
    traceContext: stored?.traceContext ?? null,
    ...largeBytes,
  }
}

type Opened = Pick<PreparedDelivery, 'webhook' | 'isUnreadable'>
const DELETED: Opened = { webhook: undefined }

/** The webhooks of the jobs, by their ids. Those that are not known are read. */
async function findWebhooks(
  core: Core,
  known: KnownWebhooks,
  db: Db,
  jobs: DeliveryJob[],
): Promise<Map<string, Opened>> {
  const webhookOf = new Map<string, Opened>()
  const unknown: DeliveryJob[] = []
  const now = performance.now()
  for (const job of jobs) {
    const webhook = known.find(job, now)
    if (webhook === undefined) unknown.push(job)
    else webhookOf.set(webhook.id, { webhook })
  }
  if (unknown.length === 0) return webhookOf
  const ids = new Set(unknown.map(({ data }) => data.recipient))
  for (const webhook of await findWebhooksForDelivery(db, [...ids])) {
    webhookOf.set(webhook.id, opened(core, webhook))
  }
  for (const job of unknown) {
    const { webhook, isUnreadable } = webhookOf.get(job.data.recipient) ?? {}
    if (webhook && isUnreadable !== true) known.keep(job, webhook, now)
  }
  return webhookOf
}

/** One webhook whose secrets cannot be decrypted must not hold up the batch. */
function opened(core: Core, webhook: WebhookForDelivery): Opened {
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

// Webhooks that this process has read for a delivery. A publish returns the version of each webhook:
// its deliveries need not read a webhook that is known in this version.

interface Known {
  version: string
  webhook: WebhookForDelivery
  readAt: number
}

const MOST = 1000
/** Characters of headers: with these limits all known webhooks take some megabytes. */
const LONGEST_HEADERS = 4096
/**
 * The time from a publish to its delivery in which a change of the webhook is not noticed. A delivery
 * that has waited longer reads the webhook.
 */
export const LONGEST_WAIT_MS = 1000
/** Decrypted secrets are not kept for longer without need. */
export const LONGEST_MS = 60_000

export class KnownWebhooks {
  /** By the id of the webhook; what was read last is last. */
  #known = new Map<string, Known>()

  /** `now` is of the monotonic clock. */
  find(
    { recipientVersion: found, data }: DeliveryJob,
    now: number,
  ): WebhookForDelivery | undefined {
    if (found === undefined || now - found.askedAt > LONGEST_WAIT_MS) return undefined
    const known = this.#known.get(data.recipient)
    if (known?.version !== found.version) return undefined
    return now - known.readAt > LONGEST_MS ? undefined : known.webhook
  }

  /**
   * The webhook was read at `readAt`, after the publish of the job. It may be newer than the version
   * that the publish has found: then the next publish finds another version.
   */
  keep(
    { recipientVersion: found, data }: DeliveryJob,
    webhook: WebhookForDelivery,
    readAt: number,
  ): void {
    if (found === undefined || !mayBeKept(webhook)) return
    this.#known.delete(data.recipient)
    this.#known.set(data.recipient, { version: found.version, webhook, readAt })
    this.#forgetOld(readAt)
  }

  #forgetOld(now: number): void {
    for (const [id, { readAt }] of this.#known) {
      if (this.#known.size <= MOST && now - readAt <= LONGEST_MS) return
      this.#known.delete(id)
    }
  }
}

/** The previous secrets of a webhook expire without a change of its row. */
const mayBeKept = ({ previousSecrets, headers }: WebhookForDelivery): boolean =>
  previousSecrets.length === 0 &&
  (headers === null || JSON.stringify(headers).length <= LONGEST_HEADERS)
