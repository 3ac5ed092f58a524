/** One delivery in full: its attempts, and the request of one of them, made again. */
import type { Core } from '@svc/core/internal'
import { findPayloads, uuidOf } from '@svc/core/internal'
import { DeliveryNotFound } from '../errors.ts'
import {
  DeliveryDetail,
  OneDelivery,
  type DeliveryAttempt,
  type SentRequest,
} from '../delivery-schemas.ts'
import type { AttemptSettings } from '../outbound/delivery/attempt.ts'
import {
  headersOf,
  plainRequest,
  transformedRequest,
  transformNameOf,
  type Delivery,
  type DeliveryRequest,
} from '../outbound/delivery/request.ts'
import { QUEUE } from '../outbound/delivery-queue.ts'
import type { Post } from '../outbound/http/post.ts'
import { MASK } from '../outbound/settings/custom-headers.ts'
import { onlyFields } from '../outbound/settings/fields.ts'
import { listLogRows } from '../tables/delivery-lists.ts'
import type { LogRow } from '../tables/delivery-log.ts'
import { timeOf } from '../tables/log-spans.ts'
import { open } from '../tables/sealed-columns.ts'
import type { StoredWebhook } from '../tables/webhook-row.ts'
import {
  findWebhooksForDelivery,
  type WebhookForDelivery,
} from '../tables/webhooks-for-delivery.ts'
import { existing, foundWebhook, isHidden, operation } from '../caller.ts'
import { attemptsOfDead, withoutPayloads } from './delivery-lists.ts'

const MOST_ATTEMPTS = 100
const NEVER_ABORTED = new AbortController().signal
/** A request without it is still the one that was sent: nothing but its signatures depend on the body. */
const NO_BODY = Buffer.alloc(0)

export function deliveryDetail(
  core: Core,
  post: Pick<Post, 'headersOf'>,
  settings: AttemptSettings,
) {
  /** The rows of a delivery, newest first. Dead letters are kept longer than the log. */
  async function rowsOf(webhookId: string, deliveryId: string): Promise<LogRow[]> {
    const days = settings.deliveryLogRetentionDays
    const { deliveryTimeoutMs: longestAttemptMs } = settings
    const of = { deliveryId, limit: MOST_ATTEMPTS }
    const logged = await listLogRows(core.readDb, days, { webhookId, longestAttemptMs, ...of })
    if (logged.length > 0) return logged
    const filter = { recipients: [webhookId], ...of }
    return attemptsOfDead(await core.queues.deadLetters(core.readDb, QUEUE, filter))
  }

  /** What the event holds of a delivery; `null` where it is no longer kept. */
  async function contentOf({ event, eventId, payload, deliveryId }: LogRow) {
    if (payload !== null) return { payload, publishedAt: timeOf(deliveryId) }
    if (eventId === null) return null
    const [found] = await findPayloads(core.readDb, [{ name: event, id: eventId }])
    return found ?? null
  }

  async function requestOf(
    webhook: WebhookForDelivery,
    row: LogRow,
  ): Promise<Pick<SentRequest, 'headers' | 'body' | 'lacks'>> {
    const { event, eventId, deliveryId, attempt, isTest, eventTenant = null } = row
    const content = await contentOf(row)
    const attemptedAt = new Date(row.attemptedAt)
    const { payload = '', publishedAt = attemptedAt } = content ?? {}
    const facts = { event, eventId, deliveryId, attempt, isTest, publishedAt, tenant: eventTenant }
    const { fields } = webhook
    const delivery: Delivery = {
      ...facts,
      payload: fields === null || content === null ? payload : onlyFields(payload, fields),
    }
    const shown = (request: DeliveryRequest, lacks: SentRequest['lacks']) => {
      const { contentType, signature = [] } = request
      const given = headersOf(settings, webhook, delivery, request, attemptedAt)
      const isReplacing = signature.length > 0
      return {
        headers: withoutSecrets(post.headersOf(given, { contentType, isReplacing }), webhook),
        body: lacks === null ? request.body.toString() : null,
        lacks,
      }
    }
    const { prefix } = settings.headerNames
    const unsigned = (lacks: SentRequest['lacks']) => {
      const plain = plainRequest(webhook, delivery, prefix)
      return shown({ ...plain, body: NO_BODY, hasOwnSignatures: false }, lacks)
    }
    if (content === null) return unsigned('payload')
    const name = transformNameOf(webhook, delivery, settings.defaultTransform)
    if (name === null) return shown(plainRequest(webhook, delivery, prefix), null)
    const transform = settings.transforms.get(name)
    // A function of the host may do more than compute: it runs for an attempt alone.
    if (transform === undefined || !('ofJson' in transform)) return unsigned('transform')
    const own = {
      headerPrefix: prefix,
      startedAt: attemptedAt,
      limitMs: 1000,
      signal: NEVER_ABORTED,
    }
    const request = await transformedRequest(transform, webhook, delivery, own)
    return request === null ? unsigned('transform') : shown(request, null)
  }

  /** `null`: this host cannot read the secrets. */
  async function openedFor(id: string): Promise<WebhookForDelivery | null> {
    const [stored] = await findWebhooksForDelivery(core.readDb, [id])
    const webhook = existing(id, stored)
    try {
      return open(core.cipher, id, webhook)
    } catch {
      return null
    }
  }

  async function sentRequest(
    { id, url, updatedAt }: StoredWebhook,
    row: LogRow | undefined,
  ): Promise<SentRequest | null> {
    if (row === undefined) return null
    const { attempt, attemptedAt } = row
    const webhook = await openedFor(id)
    return {
      attempt,
      url: row.url ?? url ?? '',
      ...(webhook === null
        ? { headers: {}, body: null, lacks: 'secret' as const }
        : await requestOf(webhook, row)),
      changedAt: updatedAt > attemptedAt ? updatedAt : null,
    }
  }

  return operation({
    input: OneDelivery,
    output: DeliveryDetail,
    routes: {
      'GET /:id/deliveries/:deliveryId': {
        names: { id: 'webhookId' },
        takes: { attempt: OneDelivery.properties.attempt },
        summary: 'Get a delivery with its attempts, and the request of one of them',
      },
    },
    async run(by, { webhookId: given, deliveryId: asked, attempt }): Promise<DeliveryDetail> {
      const webhook = await foundWebhook(core.readDb, given, by)
      const webhookId = webhook.id
      const deliveryId = uuidOf(asked)
      const rows = deliveryId === undefined ? [] : await rowsOf(webhookId, deliveryId)
      const [newest] = rows
      if (deliveryId === undefined || newest === undefined || isHidden(by, newest.event)) {
        throw new DeliveryNotFound(asked)
      }
      const shown = withoutPayloads(rows)
      const { event, eventId, status, nextAttemptAt } = shown[0]!
      const isWanted = (row: LogRow) => attempt === undefined || row.attempt === attempt
      const sent = rows.findIndex((row) => wasSent(row) && isWanted(row))
      const { eventTenant } = shown[sent] ?? {}
      const row = rows[sent] && { ...rows[sent], ...(eventTenant !== undefined && { eventTenant }) }
      return {
        webhookId,
        deliveryId,
        event,
        eventId,
        status,
        nextAttemptAt,
        attempts: shown.map(({ payload: _, testedUrl: _url, ...one }): Attempt => one),
        request: await sentRequest(webhook, row),
      }
    },
  })
}

type Attempt = Omit<DeliveryAttempt, 'payload'>

/** Whether an attempt has sent a request, as far as is known. */
const wasSent = ({ status, error }: LogRow): boolean =>
  status !== 'skipped' && error !== 'transform' && error !== 'secret' && error !== 'lost'

function withoutSecrets(
  headers: readonly string[],
  webhook: WebhookForDelivery,
): Record<string, string> {
  const secret = new Set(Object.keys(webhook.headers ?? {}).map((name) => name.toLowerCase()))
  const shown: Record<string, string> = {}
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!
    const isSecret = secret.has(name.toLowerCase()) && name.toLowerCase() !== 'content-type'
    shown[name] = isSecret ? MASK : headers[at + 1]!
  }
  return shown
}
