import type { Core } from '@svc/core/internal'
import type { Post } from '../outbound/http/post.ts'
import { deliveryOperations, type DeliverySettings } from './deliveries.ts'
import { deliveryDetail } from './delivery-detail.ts'
import { deliveryLists } from './delivery-lists.ts'
import { eventOperations } from './events.ts'
import { feedOperations } from './feed.ts'
import { handlerOperations } from './handlers.ts'
import type { inboundOperations } from './inbound.ts'
import { recoveryOperations } from '../outbound/recoveries/recover.ts'
import { statsOperation } from './stats.ts'
import { webhookOperations, type WebhookRules } from './webhooks.ts'

/** The operations on webhooks, events and deliveries, in the order of their routes in a document. */
export const outboundOperations = (
  core: Core,
  post: Post,
  settings: DeliverySettings & WebhookRules,
) => ({
  ...eventOperations(core, settings.events),
  ...feedOperations(core, settings.allowedEvents),
  ...webhookOperations(core, settings),
  ...deliveryLists(core, settings.deliveryLogRetentionDays, settings.deliveryTimeoutMs),
  getDelivery: deliveryDetail(core, post, settings),
  ...deliveryOperations(core, post, settings),
  ...recoveryOperations(core, settings.deliveryLogRetentionDays),
  ...handlerOperations(core),
  stats: statsOperation(core),
})

export type Operations = ReturnType<typeof outboundOperations> &
  ReturnType<typeof inboundOperations>
