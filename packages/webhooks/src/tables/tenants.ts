/** The tenants of the table of webhooks. */
import type { Db } from '@svc/core'
import { withinReach, type Reach } from '@svc/core/internal'
import type { TenantOfWebhooks, TenantPage } from '../schemas.ts'

/** Counting stops here: a tenant may have a million webhooks. */
const MOST_COUNTED = 1000

/**
 * Tenants that have webhooks, by name. From one name to the next it is one step along the index,
 * however many webhooks have it.
 */
export async function listTenants(
  db: Db,
  reach: Reach,
  { limit, after }: TenantPage,
): Promise<TenantOfWebhooks[]> {
  const next = (than: string) => `
    (select tenant from svc."__svc.webhooks.registrations"
      where tenant > ${than} and ${withinReach('tenant', '$1')} order by tenant limit 1)`
  const { rows } = await db.query(
    `with recursive listed as (
       select ${next("coalesce($2::text, '')")} as tenant, 1 as place
       union all
       select ${next('listed.tenant')}, place + 1 from listed
        where tenant is not null and ($3::int is null or place < $3)
     )
     select tenant,
            (select count(*)::int from (
               select from svc."__svc.webhooks.registrations" as webhooks
                where webhooks.tenant = listed.tenant limit ${MOST_COUNTED}) as few) as webhooks
       from listed where tenant is not null order by place`,
    [reach, after ?? null, limit ?? null],
  )
  return rows
}
