/** Holds and releases the deliveries of a webhook that becomes inactive, or active again. */
import type { Core, Db } from '@svc/core/internal'
import { QUEUE, SUBSCRIPTION } from './delivery-queue.ts'
import type { Webhook } from '../schemas.ts'
import { isPaused } from '../tables/webhooks.ts'

/**
 * Events make no more deliveries for it, and none of its waiting deliveries is started. After the
 * commit the caller notifies the pumps: `core.queues.recipientsChanged(QUEUE)`.
 */
export async function pause(core: Core, db: Db, id: string): Promise<void> {
  await core.fanOut.setRecipient(db, SUBSCRIPTION, { id, events: [] })
  await core.queues.hold(db, QUEUE, [id])
}

/**
 * Events make deliveries for it again, and its waiting deliveries go on. After the commit the
 * caller notifies the pumps, as after `pause`.
 */
export async function resume(core: Core, db: Db, webhook: Recipient): Promise<void> {
  await core.fanOut.setRecipient(db, SUBSCRIPTION, recipientOf(webhook))
  await release(core, db, webhook.id)
}

/** Its waiting deliveries go on, unless its tenant is paused. */
export async function release(core: Core, db: Db, id: string): Promise<void> {
  if (!(await isPaused(db, id))) await core.queues.release(db, QUEUE, [id])
}

type Recipient = Pick<Webhook, 'id' | 'tenant' | 'events' | 'filter' | 'url'>

/** What a webhook wants while it is active: nothing where it has no address. */
export const recipientOf = ({ id, tenant, events, filter, url }: Recipient) => ({
  id,
  tenant,
  events: url === null ? [] : events,
  filter,
})
