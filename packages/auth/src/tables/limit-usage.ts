/** What is used of limits and quotas, as Postgres has allotted it: with what processes hold ahead of need. */
import { withinReach, type Db, type Reach } from '@svc/core/internal'
import type { Limit, Quota, QuotaPeriod } from '../limit-fields.ts'
import { IS_ALIVE } from './api-keys.ts'

/** Whose limits and quotas they are: see `Rule` of allowances. */
export interface AllottedOf {
  subject: string
  quotas: Partial<Record<QuotaPeriod, number>>
  /** By the seconds of their window. */
  windows: Record<string, number>
}

/** A key with what counts for it. */
export interface AllottedKey extends AllottedOf {
  keyId: string
  label: string | null
  tenant: string | null
  limits: Limit[] | null
  quota: Quota | null
}

/** When the periods that run now end: ISO 8601. */
export interface PeriodEnds {
  day: string
  month: string
}

/** Of the row `of`, which has a `subject`. */
const ALLOTTED = `coalesce((select json_object_agg(q.period, q.allotted)
       from svc."__svc.auth.quotas" as q
      where q.subject = of.subject
        and q.period_start >= svc."__svc.auth.period_start"(q.period, now())), '{}')::text as quotas,
  coalesce((select json_object_agg(w.per_seconds, (
              select coalesce(sum(entry.count), 0) from unnest(w.allotted_at, w.allotted) as entry (at, count)
               where entry.at + w.per_seconds * 1000.0 > extract(epoch from clock_timestamp()) * 1000))
       from svc."__svc.auth.windows" as w where w.subject = of.subject), '{}')::text as windows`

const KEY = `select id as "keyId", label, tenant, limits, quota,
         coalesce(allowances_of, id)::text as subject from svc."__svc.auth.api_keys"`

const OF_KEY = `"keyId", label, tenant, limits::text, quota::text, subject, ${ALLOTTED}`

export async function findAllotted(db: Db, keyIds: readonly string[]): Promise<AllottedKey[]> {
  const { rows } = await db.query(
    `select ${OF_KEY} from (${KEY} where id = any ($1::uuid[])) as of`,
    [keyIds],
  )
  return rows.map(keyOf)
}

/** Keys that can be used and of which anything is counted: those with the most used first. */
export async function findUsedKeys(db: Db, reach: Reach, most: number): Promise<AllottedKey[]> {
  const { rows } = await db.query(
    `with counted as (
       select subject, max(share) as share from (
         select q.subject, q.allotted::float8 as share from svc."__svc.auth.quotas" as q
          where q.allotted > 0 and q.period_start >= svc."__svc.auth.period_start"(q.period, now())
         union all
         select w.subject, 0 from svc."__svc.auth.windows" as w where w.unused_after > now()
       ) as of_any group by subject
     )
     select ${OF_KEY}
       from (${KEY} where enabled and ${IS_ALIVE} and ${withinReach('tenant', '$1')}) as of
       join counted using (subject)
      order by share / coalesce((quota ->> 'limit')::float8, share + 1) desc, subject
      limit $2`,
    [reach, most],
  )
  return rows.map(keyOf)
}

/** Tenants of which anything is counted, as `tenant:<name>`: those with the most used first. */
export async function findUsedTenants(db: Db, reach: Reach, most: number): Promise<AllottedOf[]> {
  const { rows } = await db.query(
    `select subject, ${ALLOTTED} from (
       select subject, substr(subject, 8) as tenant, max(used) as used from (
         select q.subject, q.allotted as used from svc."__svc.auth.quotas" as q
          where starts_with(q.subject, 'tenant:')
            and q.period_start >= svc."__svc.auth.period_start"(q.period, now())
         union all
         select w.subject, 0 from svc."__svc.auth.windows" as w
          where starts_with(w.subject, 'tenant:') and w.unused_after > now()
       ) as counted group by subject
     ) as of
      where ${withinReach('tenant', '$1')} order by used desc, subject limit $2`,
    [reach, most],
  )
  return rows.map(allottedOf)
}

export async function findPeriodEnds(db: Db): Promise<PeriodEnds> {
  const { rows } = await db.query(
    `select to_char(date_trunc('day', now() at time zone 'utc') + interval '1 day',
                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as day,
            to_char(date_trunc('month', now() at time zone 'utc') + interval '1 month',
                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as month`,
  )
  return rows[0]
}

type Row = Record<keyof AllottedKey, string | null>

const allottedOf = ({ subject, quotas, windows }: Row): AllottedOf => ({
  subject: String(subject),
  quotas: JSON.parse(String(quotas)),
  windows: JSON.parse(String(windows)),
})

const keyOf = (row: Row): AllottedKey => ({
  ...allottedOf(row),
  keyId: String(row.keyId),
  label: row.label,
  tenant: row.tenant,
  limits: JSON.parse(row.limits ?? 'null'),
  quota: JSON.parse(row.quota ?? 'null'),
})
