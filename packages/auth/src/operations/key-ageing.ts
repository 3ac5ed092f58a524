/** Events about keys that expire, have expired or are not used; each is published once. */
import { BY_SYSTEM, type Core, type Db } from '@svc/core/internal'
import type { AuthSettings } from '../options.ts'
import { lockFreeApiKey } from '../tables/api-keys.ts'
import {
  findExpiring,
  findUnused,
  markExpiryNotice,
  markUnusedNotice,
  PORTION,
  type DueKey,
} from '../tables/key-notices.ts'
import type { Change, OperationContext } from './context.ts'
import { keyEvent, keyRecord } from './key-records.ts'
import type { ApiKey } from '../schemas.ts'

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
  const { db, publish, record } = context
  // A short-lived key passes several marks at once. Only the nearest one gets a notice.
  const marks = [0, ...noticeDays.toSorted((a, b) => a - b)].map((days, index, all) => ({
    days,
    nearerDays: all[index - 1] ?? null,
  }))
  await forEachDue(
    () => findExpiring(db, marks),
    (due) =>
      publishOnce(
        context,
        due,
        (tx) => markExpiryNotice(tx, due.id, due.daysLeft),
        (tx, key) =>
          due.daysLeft > 0
            ? publish(tx, keyEvent('svc.key.expiring', key, { daysLeft: due.daysLeft }))
            : record(tx, { origin: BY_SYSTEM }, expiryOf(key)),
      ),
    stopping,
  )
}

export async function publishUnusedNotices(
  context: OperationContext,
  days: number,
  stopping?: AbortSignal,
): Promise<void> {
  // Uses that this process has not written yet count too.
  await context.writeLastUsed()
  await forEachDue(
    () => findUnused(context.db, days),
    (due) =>
      publishOnce(
        context,
        due,
        (tx) => markUnusedNotice(tx, due.id),
        (tx, key) => context.publish(tx, keyEvent('svc.key.unused', key, { unusedDays: days })),
      ),
    stopping,
  )
}

/** `run` returns whether it has published something. */
async function forEachDue<Due>(
  find: () => Promise<Due[]>,
  run: (due: Due) => Promise<boolean>,
  stopping?: AbortSignal,
): Promise<void> {
  for (let isMore = true; isMore && !stopping?.aborted;) {
    const portion = await find()
    let published = 0
    for (const due of portion) {
      if (stopping?.aborted) return
      if (await run(due)) published++
    }
    // Keys that were locked after they were found would be found again and again.
    isMore = portion.length >= PORTION && published > 0
  }
}

/** A key that is locked, or was revoked, prolonged or announced meanwhile, gets no notice now. */
function publishOnce(
  { within }: OperationContext,
  { id, expiresAt }: DueKey,
  mark: (tx: Db) => Promise<boolean>,
  publish: (tx: Db, key: ApiKey) => Promise<void>,
): Promise<boolean> {
  return within({}, async (tx) => {
    const locked = await lockFreeApiKey(tx, id)
    if (locked?.key.expiresAt !== expiresAt) return false
    const isNew = await mark(tx)
    if (isNew) await publish(tx, locked.key)
    return isNew
  })
}

const expiryOf = (key: ApiKey): Change => ({
  ...keyRecord('key.expire', key, { expired: false }, { expired: true }),
  event: keyEvent('svc.key.expired', key),
})
