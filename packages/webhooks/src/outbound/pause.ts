/** Where the jobs of a webhook stand when it is paused, resumed or gone. In one transaction with that. */
import type { Core, Db } from '@svc/core/kit'
import { deactivateRegistrations, holdRegistrations } from '../registrations.ts'
import { QUEUE, SUBSCRIPTION, UNTIL_ACTIVE } from './names.ts'

/** No event makes a job for it any more, and what it has waits. */
export async function pause(core: Core, db: Db, id: string): Promise<void> {
  await core.fanOut.setTarget(db, SUBSCRIPTION, id, [])
  await core.queues.defer(QUEUE, id, UNTIL_ACTIVE, db)
}

/** Wake the queue after the commit. */
export async function resume(core: Core, db: Db, id: string, events: string[]): Promise<void> {
  await core.fanOut.setTarget(db, SUBSCRIPTION, id, events)
  await core.queues.defer(QUEUE, id, new Date(), db)
}

/** Receivers that said that they are gone for good. */
export async function pauseGone(core: Core, db: Db, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  for (const id of await deactivateRegistrations(db, ids)) await pause(core, db, id)
}

/**
 * Jobs that were postponed because their webhook was not active. It may have become active, or have
 * been deleted, since that was read: then nobody would ever bring them back, and they go on now.
 */
export async function reconsider(core: Core, db: Db, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  const held = await holdRegistrations(db, ids)
  const paused = new Set(held.filter(({ active }) => !active).map(({ id }) => id))
  for (const id of ids) if (!paused.has(id)) await core.queues.defer(QUEUE, id, new Date(), db)
}
