/** All webhooks of one tenant, for its erasure; also the deleted ones. */
import type { Db } from '@svc/core'

const PORTION = 500

/** Makes a portion of those that are active inactive. Returns their ids. */
export async function deactivateWebhooksOf(db: Db, tenant: string): Promise<string[]> {
  const { rows } = await db.query(
    `update svc."__svc.webhooks.registrations" set active = false
      where id in (select id from svc."__svc.webhooks.registrations"
                    where tenant = $1 and active order by id limit $2 for update)
     returning id`,
    [tenant, PORTION],
  )
  return rows.map(({ id }: { id: string }) => id)
}

/** Returns how many of these there were. */
export async function deleteWebhooks(db: Db, ids: readonly string[]): Promise<number> {
  let deleted = 0
  for (let start = 0; start < ids.length; start += PORTION) {
    const { rowCount } = await db.query(
      `delete from svc."__svc.webhooks.registrations" where id = any($1::uuid[])`,
      [ids.slice(start, start + PORTION)],
    )
    deleted += rowCount ?? 0
  }
  return deleted
}

export async function forgetDeletedWebhooks(db: Db, tenant: string): Promise<void> {
  await db.query(`delete from svc."__svc.webhooks.deleted_webhooks" where tenant = $1`, [tenant])
}
