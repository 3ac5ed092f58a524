/** The tenants of deleted webhooks, for the rows that their deliveries still get. */
import type { Db } from '@svc/core'

/** Deletes the rows of webhooks that were deleted more than `days` ago. */
export async function sweepDeletedWebhooks(db: Db, days: number): Promise<void> {
  await db.query(
    `delete from svc."__svc.webhooks.deleted_webhooks"
      where deleted_at < now() - make_interval(days => $1)`,
    [days],
  )
}

/** Deletes the rows of a tenant. */
export async function forgetDeletedWebhooks(db: Db, tenant: string): Promise<void> {
  await db.query(`delete from svc."__svc.webhooks.deleted_webhooks" where tenant = $1`, [tenant])
}
