/**
 * Holds and releases deliveries: of a webhook that becomes inactive, or active again, and of a tenant. Events make
 * deliveries for a paused tenant, which wait.
 */
import { deletePause, insertPause, type Core, type Db } from '@svc/core/internal'
import { QUEUE, SUBSCRIPTION } from './delivery-queue.ts'
import type { Webhook } from '../schemas.ts'
import { isPaused, lockTenant, setPaused } from '../tables/webhooks.ts'

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

/**
 * From the commit on no attempt begins for the webhooks of a tenant, or they begin again; `null`: for no webhook.
 * Returns whether that is new.
 */
export async function setDeliveriesPaused(
  core: Core,
  db: Db,
  paused: boolean,
  tenant: string | null,
  reason: string | null,
): Promise<boolean> {
  const { pauses, queues } = core
  core.afterCommit(db, () => {
    pauses.changed()
    queues.recipientsChanged(QUEUE)
  })
  const of = { queue: QUEUE, tenant }
  const isNew = paused ? await insertPause(db, { ...of, reason }) : await deletePause(db, of)
  if (tenant === null) return isNew
  // A webhook that is being registered or changed is seen afterwards.
  await lockTenant(db, tenant)
  const changed = await setPaused(db, tenant, paused)
  const active = changed.filter((one) => one.active).map(({ id }) => id)
  if (paused) await queues.hold(db, QUEUE, active)
  else await queues.release(db, QUEUE, active)
  return isNew
}
