/** Tenants, as the table of webhooks knows them. */
import type { Db } from '@svc/core'
import { withinReach, type Reach } from '@svc/core/internal'
import type { TenantOfWebhooks, TenantPage } from '../schemas.ts'

/** Tenants that have webhooks, by name. */
export async function listTenants(
  db: Db,
  reach: Reach,
  { limit, after }: TenantPage,
): Promise<TenantOfWebhooks[]> {
  const { rows } = await db.query(
    `select tenant, count(*)::int as webhooks from svc."__svc.webhooks.registrations"
      where tenant is not null and ${withinReach('tenant', '$1')}
        and ($2::text is null or tenant > $2)
      group by tenant order by tenant limit $3`,
    [reach, after ?? null, limit ?? null],
  )
  return rows
}
