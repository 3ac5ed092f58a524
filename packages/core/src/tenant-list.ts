/**
 * The statements that list the tenants of a table by name, each with counts. From one name to the
 * next it is one step along an index that begins with `tenant`, however many rows have the name. A
 * search reads the table of tenants, whose index has the words of their names.
 */
import type { Db } from './postgres/transaction.ts'
import { foundBy, foundRows } from './tenants/search.ts'
import { withinReach, type Reach } from './tenants/tenants.ts'

/** Counting stops here: a tenant may have a million rows. */
const MOST_COUNTED = 1000

export interface Counted {
  /** It has an index of `tenant` and `id`. */
  table: string
  /** A condition on its rows. @default all count */
  where?: string
}

export interface TenantListPage {
  limit?: number | undefined
  after?: string | undefined
  search?: string | undefined
}

/** `counts`: what is counted of each tenant, by the name of the column. */
export function tenantListOf<Row>(
  table: string,
  counts: Readonly<Record<string, Counted>>,
): (db: Db, reach: Reach, page: TenantListPage) => Promise<Row[]> {
  const next = (than: string) => `
    (select tenant from ${table}
      where tenant > ${than} and ${withinReach('tenant', '$1')} order by tenant limit 1)`
  const columns = Object.entries(counts).map(
    ([name, counted]) => `(select count(*)::int from (${someRows(counted)}) as few) as ${name}`,
  )
  const all = `
    with recursive listed as (
      select ${next("coalesce($2::text, '')")} as tenant, 1 as place
      union all
      select ${next('listed.tenant')}, place + 1 from listed
       where tenant is not null and ($3::int is null or place < $3)
    )
    select tenant, ${columns.join(', ')} from listed where tenant is not null order by place`
  const found = `
    with listed as materialized (
      select distinct tenant from ${foundRows('svc."__svc.tenants"', foundBy('words', '$4'))}
       where ($2::text is null or tenant > $2) and ${withinReach('tenant', '$1')}
         and exists (select from ${table} as one where one.tenant = found.tenant)
       order by tenant limit $3
    )
    select tenant, ${columns.join(', ')} from listed order by tenant`
  return async (db, reach, { limit, after, search }) => {
    const page = [reach, after ?? null, limit ?? null]
    const { rows } =
      search === undefined ? await db.query(all, page) : await db.query(found, [...page, search])
    return rows
  }
}

/** In the order of the index: else the planner reads a large table from its beginning. */
const someRows = ({ table, where = 'true' }: Counted): string =>
  `select from ${table} as counted where counted.tenant = listed.tenant and ${where}
    order by counted.id desc limit ${MOST_COUNTED}`

export async function forgetTenant(db: Db, tenant: string): Promise<void> {
  await db.query('delete from svc."__svc.tenants" where tenant = $1', [tenant])
}
