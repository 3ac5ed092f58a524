/** What follows for the deliveries of a webhook that becomes inactive, or active again. */
import type { Core, Db } from '@svc/core/internal'
import { deactivateRegistrations } from '../tables/webhooks.ts'
import { QUEUE, SUBSCRIPTION } from '../outbound/constants.ts'

/**
 * No event makes a delivery for it any more, and no waiting one is started, however many there are.
 * Tell the queue after the commit: `core.queues.groupsChanged(QUEUE)`.
 */
export async function pause(core: Core, db: Db, id: string): Promise<void> {
  await core.fanOut.setRecipient(db, SUBSCRIPTION, id, [])
  await core.queues.hold(db, QUEUE, id)
}

/** Events make deliveries for it again, and those that waited go on. Tell the queue as above. */
export async function resume(core: Core, db: Db, id: string, events: string[]): Promise<void> {
  await core.fanOut.setRecipient(db, SUBSCRIPTION, id, events)
  await core.queues.release(db, QUEUE, id)
}

/** Webhooks whose receivers said that they are gone for good. */
export async function pauseGone(core: Core, db: Db, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  for (const id of await deactivateRegistrations(db, ids)) await pause(core, db, id)
}
