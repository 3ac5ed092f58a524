/** Makes webhooks inactive that fail, or whose receiver is gone. */
import { BY_SYSTEM, type Core, type Db } from '@svc/core/internal'
import { lastErrorsOf, publishLifecycle } from '../lifecycle-events.ts'
import { deactivateWebhooks } from '../../tables/webhook-health.ts'
import { auditChange } from '../audit.ts'
import { pause } from '../pause.ts'
import { MOST_COUNTED, waitingOf } from '../delivery-queue.ts'

/**
 * Makes webhooks inactive; those that are so already stay as they are. After the commit the caller
 * notifies the pumps: `core.queues.recipientsChanged(QUEUE)`. `isSilent`: whether no lifecycle event is
 * published of a webhook.
 */
export async function disable(
  core: Core,
  db: Db,
  ids: string[],
  reason: 'failing' | 'gone',
  isSilent: (id: string) => boolean = () => false,
): Promise<void> {
  if (ids.length === 0) return
  const disabled = await deactivateWebhooks(db, ids, reason)
  for (const { webhook } of disabled) {
    await pause(core, db, webhook.id)
    const before = { ...webhook, active: true, disabledAt: null, disabledReason: null }
    await auditChange(db, BY_SYSTEM, 'disable', before, webhook)
  }
  const told = disabled.filter(({ webhook }) => !isSilent(webhook.id))
  if (told.length === 0) return
  await publishLifecycle(core, db, 'svc.webhook.disabled', async () => {
    const known = told.map(({ webhook }) => webhook.id)
    const waiting = await waitingOf(core, db, known, MOST_COUNTED)
    const lastErrors = await lastErrorsOf(db, known)
    return told.map(({ webhook, failedAttempts }) => ({
      webhookId: webhook.id,
      tenant: webhook.tenant,
      url: webhook.url,
      reason,
      failingSince: webhook.failingSince,
      failedAttempts,
      waiting: waiting.get(webhook.id) ?? 0,
      lastError: lastErrors.get(webhook.id) ?? null,
    }))
  })
}
