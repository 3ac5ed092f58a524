/** Makes webhooks inactive that fail, or whose receiver is gone, and active again those that were disabled as failing. */
import { BY_SYSTEM, EVERYWHERE, type Core, type Db } from '@svc/core/internal'
import { findLastFailures } from '../../tables/delivery-log.ts'
import { publishLifecycle } from '../lifecycle-events.ts'
import { deactivateWebhooks } from '../../tables/webhook-health.ts'
import { auditChange } from '../audit.ts'
import { pause, resume } from '../pause.ts'
import { MOST_COUNTED, waitingOf, QUEUE } from '../delivery-queue.ts'
import { recoverMissed } from '../recoveries/recover-missed.ts'
import { lockWebhook, updateWebhook } from '../../tables/webhooks.ts'
import type { StoredWebhook } from '../../tables/webhook-row.ts'

// Makes webhooks inactive that fail, or whose receiver is gone.

/**
 * Makes webhooks inactive; those that are so already stay as they are. After the commit the caller
 * notifies the pumps: `core.queues.recipientsChanged(QUEUE)`. `isSilent`: whether no lifecycle event is
 * published of a webhook.
 */
export async function disable(
  core: Core,
  db: Db,
  given: string[],
  reason: 'failing' | 'gone',
  isSilent: (id: string) => boolean = () => false,
): Promise<void> {
  if (given.length === 0) return
  const disabled = await deactivateWebhooks(db, given, reason)
  for (const { webhook } of disabled) {
    await pause(core, db, webhook.id)
    const before = { ...webhook, active: true, disabledAt: null, disabledReason: null }
    await auditChange(db, BY_SYSTEM, 'disable', before, webhook)
  }
  const told = disabled.filter(({ webhook }) => !isSilent(webhook.id))
  if (told.length === 0) return
  const ids = told.map(({ webhook }) => webhook.id)
  const waiting = await waitingOf(core, db, ids, MOST_COUNTED)
  const lastErrors = await findLastFailures(db, ids)
  const payloads = told.map(({ webhook, failedAttempts }) => ({
    webhookId: webhook.id,
    tenant: webhook.tenant,
    url: webhook.url,
    reason,
    failingSince: webhook.failingSince,
    failedAttempts,
    waiting: waiting.get(webhook.id) ?? 0,
    lastError: lastErrors.get(webhook.id) ?? null,
  }))
  await publishLifecycle(core, db, 'svc.webhook.disabled', payloads)
}

// Makes webhooks active again that were disabled as failing.

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
  const { id, disabledAt, createdAt } = before
  const missed =
    disabledAt === null
      ? null
      : await recoverMissed(core, db, id, missedSince(disabledAt, createdAt))
  const waiting = (await waitingOf(core, db, [id], MOST_COUNTED)).get(id) ?? 0
  const about = { webhookId: id, tenant: after.tenant, url: after.url, by }
  await publishLifecycle(core, db, 'svc.webhook.recovered', [
    { ...about, disabledAt: disabledAt ?? '', waiting, recoveryId: missed?.id ?? null },
  ])
  await core.queues.makeDue(db, QUEUE, id)
  await resume(core, db, after)
}

/** A publish before the disabling may commit after it: its event has the time at which its transaction began. */
const LONGEST_PUBLISH_MS = 300_000

/** Since when a webhook may have missed events. Those that it has a delivery of are told apart by their ids. */
function missedSince(disabledAt: string, createdAt: string): string {
  const ms = Math.max(Date.parse(disabledAt) - LONGEST_PUBLISH_MS, Date.parse(createdAt))
  return new Date(ms).toISOString()
}
