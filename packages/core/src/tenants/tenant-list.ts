/**
 * The statement that lists the tenants of a table by name, each with counts. From one name to the
 * next it is one step along an index that begins with `tenant`, however many rows have the name.
 */
import { withinReach, type Reach } from './tenants.ts'

/** Counting stops here: a tenant may have a million rows. */
const MOST_COUNTED = 1000

export interface Counted {
  /** It has an index of `tenant` and `id`. */
  table: string
  /** A condition on its rows. @default all count */
  where?: string
}

/** `counts`: what is counted of each tenant, by the name of the column. */
export function tenantListOf(table: string, counts: Readonly<Record<string, Counted>>): string {
  const next = (than: string) => `
    (select tenant from ${table}
      where tenant > ${than} and ${withinReach('tenant', '$1')} order by tenant limit 1)`
  const columns = Object.entries(counts).map(
    ([name, counted]) => `(select count(*)::int from (${someRows(counted)}) as few) as ${name}`,
  )
  return `
    with recursive listed as (
      select ${next("coalesce($2::text, '')")} as tenant, 1 as place
      union all
      select ${next('listed.tenant')}, place + 1 from listed
       where tenant is not null and ($3::int is null or place < $3)
    )
    select tenant, ${columns.join(', ')} from listed where tenant is not null order by place`
}

/** In the order of the index: else the planner reads a large table from its beginning. */
const someRows = ({ table, where = 'true' }: Counted): string =>
  `select from ${table} as counted where counted.tenant = listed.tenant and ${where}
    order by counted.id desc limit ${MOST_COUNTED}`

/** The parameters of such a statement: whose tenants, and which page of them. */
export const tenantListPage = (
  reach: Reach,
  { limit, after }: { limit?: number | undefined; after?: string | undefined },
): unknown[] => [reach, after ?? null, limit ?? null]
