/** Whose the deleted webhooks were, for the rows that their deliveries still get. */
import type { Db } from '@svc/core'

/** Forgets the tenants of webhooks that were deleted more than `days` ago. */
export async function sweepDeletedWebhooks(db: Db, days: number): Promise<void> {
  await db.query(
    `delete from svc."__svc.webhooks.deleted_webhooks"
      where deleted_at < now() - make_interval(days => $1)`,
    [days],
  )
}

/** Forgets which deleted webhooks were a tenant's. */
export async function forgetDeletedWebhooks(db: Db, tenant: string): Promise<void> {
  await db.query(`delete from svc."__svc.webhooks.deleted_webhooks" where tenant = $1`, [tenant])
}
