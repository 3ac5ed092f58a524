/** The tenants of the table of webhooks. */
import { tenantListOf } from '@svc/core/internal'
import type { TenantOfWebhooks } from '../schemas.ts'

const WEBHOOKS = 'svc."__svc.webhooks.registrations"'

/** Tenants that have webhooks, by name. */
export const listTenants = tenantListOf<TenantOfWebhooks>(WEBHOOKS, {
  webhooks: { table: WEBHOOKS },
})
