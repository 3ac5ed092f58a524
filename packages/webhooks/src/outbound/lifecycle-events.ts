/** The lifecycle events of webhooks and deliveries. Payloads never hold a secret. */
import { publishedEventId, type Core, type Db } from '@svc/core/internal'
import { findAddresses } from '../tables/webhook-health.ts'

interface AboutWebhook {
  webhookId: string
  /** `null` for the operator's. */
  tenant: string | null
  /** `null` where it has none any more. */
  url: string | null
}

/** `svc.webhook.failing`: all attempts have failed for `autoDisable.warnAfterSeconds`. */
export interface WebhookFailing extends AboutWebhook {
  /** ISO 8601, as all times. */
  failingSince: string
  /** Attempts since then. */
  failedAttempts: number
  lastError: LastError | null
}

/** `svc.webhook.disabled`: we have made it inactive. */
export interface WebhookDisabled extends AboutWebhook {
  /** `failing`, by the option `autoDisable`, or `gone`, by `deactivateOnGone`. */
  reason: 'failing' | 'gone'
  failingSince: string | null
  failedAttempts: number
  /** Deliveries that wait now, up to 10000. */
  waiting: number
  lastError: LastError | null
}

/** `svc.webhook.recovered`: a webhook that was disabled as failing is active again. */
export interface WebhookRecovered extends AboutWebhook {
  /** A probe has succeeded, or an operator has made it active. */
  by: 'probe' | 'operator'
  disabledAt: string
  /** Deliveries that have waited and are sent now, up to 10000. */
  waiting: number
  /** The recovery of the events that it has missed, with their number and the progress. */
  recoveryId: string | null
}

/** `svc.delivery.dead`: the last attempt of a delivery has failed, or the receiver has answered 410. */
export interface DeliveryDead extends AboutWebhook {
  deliveryId: string
  event: string
  /** `null` where no event made the delivery. */
  eventId: string | null
  attempts: number
  lastError: LastError | null
}

/** How an attempt failed: see `DeliveryAttempt`. */
export interface LastError {
  error: string | null
  statusCode: number | null
  attemptedAt: string
}

interface Payloads {
  'svc.webhook.failing': WebhookFailing
  'svc.webhook.disabled': WebhookDisabled
  'svc.webhook.recovered': WebhookRecovered
  'svc.delivery.dead': DeliveryDead
}

const NAMES = new Set([
  'svc.webhook.failing',
  'svc.webhook.disabled',
  'svc.webhook.recovered',
  'svc.delivery.dead',
])

/** The outcome of a delivery of such an event publishes no further event. */
export const isLifecycleEvent = (name: string): boolean => NAMES.has(name)

/** Publishes in the transaction of the change that the events report. */
export async function publishLifecycle<Name extends keyof Payloads>(
  { bus }: Pick<Core, 'bus'>,
  db: Db,
  name: Name,
  payloads: Payloads[Name][],
): Promise<void> {
  const events = payloads.map((payload) => {
    const { tenant } = payload
    return { name, payload: JSON.stringify(payload), tenant }
  })
  if (events.length > 0) await bus.publish(events, { db })
}

/** A delivery that has become a dead letter. Its event has the id under which it is stored. */
export type DeadDelivery = Omit<DeliveryDead, 'tenant' | 'url'>

export async function publishDead(core: Core, db: Db, deliveries: DeadDelivery[]): Promise<void> {
  const dead = deliveries.filter(({ event }) => !isLifecycleEvent(event))
  if (dead.length === 0) return
  const ids = [...new Set(dead.map(({ webhookId }) => webhookId))]
  const addresses = new Map((await findAddresses(db, ids)).map((one) => [one.id, one]))
  const payloads = dead.flatMap(({ webhookId, eventId, ...rest }) => {
    const webhook = addresses.get(webhookId)
    if (webhook === undefined) return []
    const { tenant, url } = webhook
    return [{ webhookId, tenant, url, eventId: eventId && publishedEventId(eventId), ...rest }]
  })
  await publishLifecycle(core, db, 'svc.delivery.dead', payloads)
}

export const lastErrorOf = ({ error, statusCode, attemptedAt }: LastError): LastError => ({
  error,
  statusCode,
  attemptedAt,
})
