/** The operations as named actions: `app.svc.actions.call('__svc.webhooks.register', …)`. */
import { Type } from '@sinclair/typebox'
import type { Svc } from '@svc/core'
import { defineAction } from '@svc/core/internal'
import type { LogFilter } from '../tables/delivery-log.ts'
import type { Deliveries } from './deliveries.ts'
import { parsed } from './delivery-records.ts'
import type { Webhooks } from './webhooks.ts'
import {
  ListDeliveries,
  NewWebhook,
  OneAttempt,
  Redelivery,
  RotateSecret,
  WebhookUpdate,
  type DeliveryRecord,
  type Queued,
  type Redriven,
  type Webhook,
  type WebhookWithSecret,
} from '../schemas.ts'

declare module '@svc/core' {
  interface SvcActions {
    /** Registers a webhook. */
    '__svc.webhooks.register': (input: NewWebhook) => Promise<WebhookWithSecret>
    /** All webhooks, newest first. */
    '__svc.webhooks.list': () => Promise<Webhook[]>
    '__svc.webhooks.get': (id: string) => Promise<WebhookWithSecret>
    /** Changes what is given; `active: false` pauses its deliveries. */
    '__svc.webhooks.update': (input: WebhookUpdate) => Promise<Webhook>
    /** Deletes a webhook; its waiting deliveries are dropped. */
    '__svc.webhooks.delete': (id: string) => Promise<void>
    /** A new secret; the old one signs along for `overlapSeconds` (default 86400). */
    '__svc.webhooks.rotateSecret': (input: RotateSecret) => Promise<WebhookWithSecret>
    /** Queues a `webhook.test` event for this webhook alone. */
    '__svc.webhooks.test': (id: string) => Promise<Queued>
    /** Performs one attempt and returns its record. */
    '__svc.webhooks.deliver': (input: OneAttempt) => Promise<DeliveryRecord>
    /** The delivery log, newest first; all of it where only an id is given. */
    '__svc.webhooks.listDeliveries': (
      webhook: string | ({ webhookId: string } & LogFilter),
    ) => Promise<DeliveryRecord[]>
    /** Queues a delivery of the log once more, under an id of its own. */
    '__svc.webhooks.redeliver': (input: Redelivery) => Promise<Queued>
    /** Deliveries whose attempts are used up, newest first. */
    '__svc.webhooks.listDeadLetters': (id: string) => Promise<DeliveryRecord[]>
    /** Gives all dead letters of a webhook all their attempts again. */
    '__svc.webhooks.redrive': (id: string) => Promise<Redriven>
  }
}

const Id = Type.String()

export function registerActions(svc: Svc, webhooks: Webhooks, deliveries: Deliveries): void {
  svc.actions.register('__svc.webhooks.list', () => webhooks.list())
  defineAction(svc, '__svc.webhooks.register', NewWebhook, (input) => webhooks.register(input))
  defineAction(svc, '__svc.webhooks.get', Id, (id) => webhooks.get(id))
  defineAction(svc, '__svc.webhooks.update', WebhookUpdate, ({ id, ...changes }) =>
    webhooks.update(id, changes),
  )
  defineAction(svc, '__svc.webhooks.delete', Id, (id) => webhooks.remove(id))
  defineAction(svc, '__svc.webhooks.rotateSecret', RotateSecret, (input) =>
    webhooks.rotateSecret(input),
  )
  defineAction(svc, '__svc.webhooks.test', Id, (id) => deliveries.test(id))
  defineAction(svc, '__svc.webhooks.deliver', OneAttempt, async (input) =>
    parsed(await deliveries.deliver(input)),
  )
  defineAction(svc, '__svc.webhooks.listDeliveries', ListDeliveries, async (webhook) => {
    const { webhookId, ...filter } = typeof webhook === 'string' ? { webhookId: webhook } : webhook
    return (await deliveries.list(webhookId, filter)).records.map(parsed)
  })
  defineAction(svc, '__svc.webhooks.redeliver', Redelivery, (input) => deliveries.redeliver(input))
  defineAction(svc, '__svc.webhooks.listDeadLetters', Id, async (id) =>
    (await deliveries.listDead(id)).records.map(parsed),
  )
  defineAction(svc, '__svc.webhooks.redrive', Id, (id) => deliveries.redrive(id))
}
