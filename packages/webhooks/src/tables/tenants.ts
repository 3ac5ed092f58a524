/** The tenants of the table of webhooks. */
import type { Db } from '@svc/core'
import { tenantListOf, tenantListPage, type Reach } from '@svc/core/internal'
import type { TenantOfWebhooks, TenantPage } from '../schemas.ts'

const WEBHOOKS = 'svc."__svc.webhooks.registrations"'
const TENANTS = tenantListOf(WEBHOOKS, { webhooks: { table: WEBHOOKS } })

/** Tenants that have webhooks, by name. */
export async function listTenants(
  db: Db,
  reach: Reach,
  page: TenantPage,
): Promise<TenantOfWebhooks[]> {
  const { rows } = await db.query(TENANTS, tenantListPage(reach, page))
  return rows
}
