/** Events about keys that expire, have expired or are not used; each is published once. */
import { BY_SYSTEM, changesOf, type Core, type Db } from '@svc/core/internal'
import type { AuthSettings } from '../options.ts'
import { findApiKey } from '../tables/api-keys.ts'
import {
  findExpired,
  findExpiring,
  findUnused,
  insertNotice,
  sweepNotices,
} from '../tables/key-notices.ts'
import type { Change, OperationContext } from './context.ts'
import { keyEvent } from './key-events.ts'
import type { ApiKey } from '../schemas.ts'

const EXPIRY_SECONDS = 15
const UNUSED_SECONDS = 600
const SWEEP_SECONDS = 3600

export function watchAgeing(core: Core, context: OperationContext, settings: AuthSettings): void {
  const { expiryNoticeDays, unusedNoticeDays } = settings
  core.every(EXPIRY_SECONDS, 'notices of keys that expire', () =>
    publishExpiryNotices(context, expiryNoticeDays),
  )
  if (unusedNoticeDays !== undefined) {
    core.every(UNUSED_SECONDS, 'notices of keys that are not used', () =>
      publishUnusedNotices(context, unusedNoticeDays),
    )
  }
  core.every(SWEEP_SECONDS, 'old notices of keys', () => sweepNotices(context.db))
}

/** `noticeDays`: how many days before the expiry of a key a notice is published. */
export async function publishExpiryNotices(
  context: OperationContext,
  noticeDays: readonly number[],
): Promise<void> {
  const days = [...noticeDays].toSorted((a, b) => a - b)
  for (const [index, daysLeft] of days.entries()) {
    for (const id of await findExpiring(context.db, daysLeft)) {
      // A short-lived key passes several marks at once. Only the nearest one gets a notice.
      await publishOnce(context, id, `expiring:${daysLeft}`, async (tx, key) => {
        for (const passed of days.slice(index + 1)) await insertNotice(tx, id, `expiring:${passed}`)
        await context.publish(tx, keyEvent('svc.key.expiring', key, { daysLeft }))
      })
    }
  }
  for (const id of await findExpired(context.db)) {
    await publishOnce(context, id, 'expired', (tx, key) =>
      context.record(tx, { origin: BY_SYSTEM }, expiryOf(key)),
    )
  }
}

export async function publishUnusedNotices(context: OperationContext, days: number): Promise<void> {
  // Uses that this process has not written yet count too.
  await context.writeLastUsed()
  for (const { id, notice } of await findUnused(context.db, days)) {
    await publishOnce(context, id, notice, (tx, key) =>
      context.publish(tx, keyEvent('svc.key.unused', key, { unusedDays: days })),
    )
  }
}

function publishOnce(
  { within }: OperationContext,
  id: string,
  notice: string,
  publish: (tx: Db, key: ApiKey) => Promise<void>,
): Promise<void> {
  return within({}, async (tx) => {
    const key = await findApiKey(tx, id, null)
    if (key && (await insertNotice(tx, id, notice))) await publish(tx, key)
  })
}

const expiryOf = (key: ApiKey): Change => ({
  action: 'key.expire',
  tenant: key.tenant,
  target: { kind: 'key', id: key.id },
  changes: changesOf({ expired: false }, { expired: true }),
  event: keyEvent('svc.key.expired', key),
})
