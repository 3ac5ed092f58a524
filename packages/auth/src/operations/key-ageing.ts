/** Events about keys that expire, have expired or are not used; each is published once. */
import { BY_SYSTEM, type Core, type Db } from '@svc/core/internal'
import type { AuthSettings } from '../options.ts'
import { markExpiring, markUnused, PORTION } from '../tables/key-notices.ts'
import type { OperationContext } from './context.ts'
import { keyEvent, keyRecord } from './key-records.ts'

const EXPIRY_SECONDS = 15
const UNUSED_SECONDS = 600

export function watchAgeing(core: Core, context: OperationContext, settings: AuthSettings): void {
  const { expiryNoticeDays, unusedNoticeDays } = settings
  core.every(EXPIRY_SECONDS, 'notices of keys that expire', (stopping) =>
    publishExpiryNotices(context, expiryNoticeDays, stopping),
  )
  if (unusedNoticeDays !== undefined) {
    core.every(UNUSED_SECONDS, 'notices of keys that are not used', (stopping) =>
      publishUnusedNotices(context, unusedNoticeDays, stopping),
    )
  }
}

/** `noticeDays`: how many days before the expiry of a key a notice is published. */
export async function publishExpiryNotices(
  context: OperationContext,
  noticeDays: readonly number[],
  stopping?: AbortSignal,
): Promise<void> {
  const { publish, record } = context
  // A short-lived key passes several marks at once. Only the nearest one gets a notice.
  const marks = [0, ...noticeDays.toSorted((a, b) => a - b)].map((days, index, all) => ({
    days,
    nearerDays: all[index - 1] ?? null,
  }))
  await inPortions(context, stopping, async (tx) => {
    const due = await markExpiring(tx, marks)
    for (const { key, daysLeft } of due) {
      if (daysLeft > 0) await publish(tx, keyEvent('svc.key.expiring', key, { daysLeft }))
      else {
        await record(
          tx,
          { origin: BY_SYSTEM },
          {
            ...keyRecord('key.expire', key, { expired: false }, { expired: true }),
            event: keyEvent('svc.key.expired', key),
          },
        )
      }
    }
    return due.length
  })
}

export async function publishUnusedNotices(
  context: OperationContext,
  days: number,
  stopping?: AbortSignal,
): Promise<void> {
  // Uses that this process has not written yet count too.
  await context.writeLastUsed()
  await inPortions(context, stopping, async (tx) => {
    const due = await markUnused(tx, days)
    for (const key of due) {
      await context.publish(tx, keyEvent('svc.key.unused', key, { unusedDays: days }))
    }
    return due.length
  })
}

/** `run` returns how many keys it has announced: in the transaction that marks them. */
async function inPortions(
  { within }: OperationContext,
  stopping: AbortSignal | undefined,
  run: (tx: Db) => Promise<number>,
): Promise<void> {
  while ((await within({}, run)) >= PORTION && !stopping?.aborted);
}
