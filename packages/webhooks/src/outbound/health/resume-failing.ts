/** Makes webhooks active again that were disabled as failing. */
import { BY_SYSTEM, EVERYWHERE, type Core, type Db } from '@svc/core/internal'
import { MOST_COUNTED, QUEUE, waitingOf } from '../delivery-queue.ts'
import { publishLifecycle } from '../lifecycle-events.ts'
import { recoverMissed } from '../recover-missing.ts'
import { missedSince } from '../../tables/missed-since.ts'
import { lockWebhook, updateWebhook } from '../../tables/webhooks.ts'
import type { StoredWebhook } from '../../tables/webhook-row.ts'
import { auditChange } from '../audit.ts'
import { resume } from '../pause.ts'

/**
 * Makes a webhook active again that was disabled as failing: a delivery has reached its receiver at
 * `url`. The settlement of a probe does that; this is for attempts that began before it was disabled.
 */
export async function reactivate(core: Core, id: string, url: string): Promise<void> {
  await core.transaction(async (db) => {
    if (!(await reactivateIn(core, db, id, url))) return
    core.afterCommit(db, () => core.queues.recipientsChanged(QUEUE))
  })
}

/**
 * Makes the webhook active in a transaction. Returns whether it did: a webhook that has another address
 * by now stays disabled. After the commit the caller notifies the pumps: `core.queues.recipientsChanged(QUEUE)`.
 */
export async function reactivateIn(core: Core, db: Db, id: string, url: string): Promise<boolean> {
  const before = await lockWebhook(db, id, EVERYWHERE)
  if (before?.url !== url || !isDisabledAsFailing(before)) return false
  const after = await updateWebhook(db, id, { active: true })
  await auditChange(db, BY_SYSTEM, 'reactivate', before, after)
  await resumeFailing(core, db, before, after, 'probe')
  return true
}

export const isDisabledAsFailing = ({
  active,
  disabledReason,
}: Pick<StoredWebhook, 'active' | 'disabledReason'>): boolean =>
  !active && disabledReason === 'failing'

/**
 * Makes a webhook that was disabled as failing go on: waiting deliveries are sent at once, then the
 * events that it has missed. `before` is the webhook as it was until now. After the commit the caller
 * notifies the pumps: `core.queues.recipientsChanged(QUEUE)`.
 */
export async function resumeFailing(
  core: Core,
  db: Db,
  before: StoredWebhook,
  after: StoredWebhook,
  by: 'probe' | 'operator',
): Promise<void> {
  const { id, disabledAt } = before
  const since = disabledAt === null ? null : await missedSince(db, id, disabledAt)
  const missed = since === null ? null : await recoverMissed(core, db, id, since)
  await publishLifecycle(core, db, 'svc.webhook.recovered', async () => {
    const waiting = (await waitingOf(core, db, [id], MOST_COUNTED)).get(id) ?? 0
    const about = { webhookId: id, tenant: after.tenant, url: after.url, by }
    return [{ ...about, disabledAt: disabledAt ?? '', waiting, recoveryId: missed?.id ?? null }]
  })
  await core.queues.makeDue(db, QUEUE, id)
  await resume(core, db, after)
}
