/** Stops the deliveries to the webhooks of a tenant, and lets them go on: events make deliveries meanwhile, which wait. */
import { deletePause, insertPause, type Core, type Db } from '@svc/core/internal'
import { lockTenant, setPaused } from '../tables/webhooks.ts'
import { QUEUE } from './delivery-queue.ts'

/**
 * From the commit on no attempt begins for it; `null`: for no webhook. Returns whether that is new. After the commit
 * the caller calls `pausesChanged`.
 */
export async function pauseDeliveries(
  core: Core,
  db: Db,
  tenant: string | null,
  reason: string | null,
): Promise<boolean> {
  const isNew = await insertPause(db, { queue: QUEUE, tenant, reason })
  if (tenant !== null) await holdTenant(core, db, tenant, true)
  return isNew
}

/** Returns whether it was paused. */
export async function resumeDeliveries(
  core: Core,
  db: Db,
  tenant: string | null,
): Promise<boolean> {
  const wasPaused = await deletePause(db, { queue: QUEUE, tenant })
  if (tenant !== null) await holdTenant(core, db, tenant, false)
  return wasPaused
}

async function holdTenant(
  { queues }: Core,
  db: Db,
  tenant: string,
  isPaused: boolean,
): Promise<void> {
  // A webhook that is being registered or changed is seen afterwards.
  await lockTenant(db, tenant)
  const changed = await setPaused(db, tenant, isPaused)
  const active = changed.filter((one) => one.active).map(({ id }) => id)
  if (isPaused) await queues.hold(db, QUEUE, active)
  else await queues.release(db, QUEUE, active)
}

export function pausesChanged({ pauses, queues }: Core): void {
  pauses.changed()
  queues.recipientsChanged(QUEUE)
}
