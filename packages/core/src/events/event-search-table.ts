/** The table of events, as it is searched. */
import type { Db } from '../postgres/transaction.ts'
import { withinReach, type Reach } from '../tenants/tenants.ts'

/** Time, name and stored id, as the rows are ordered. */
export type Position = [publishedAt: string, name: string, id: string]

export interface FoundRow {
  name: string
  /** The id as it is stored, see event-id.ts. */
  id: string
  tenant: string | null
  publishedAt: string
  /** JSON text of a list of paths; `null` where the publisher did not say what was before. */
  changed: string | null
  bytes: number
  /** JSON text; `null` where it was not requested. */
  payload: string | null
  /** The time with all of its digits. */
  position: string
}

export interface EventSpan {
  names: string[] | null
  /** Events whose names begin with this are left out. */
  except?: string | undefined
  id?: string | undefined
  reach: Reach
  text?: string | undefined
  payloads?: boolean | undefined
  lower: string
  upper: Position
  limit: number
}

const time = (digits: string): string =>
  `to_char(published_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.${digits}"Z"')`

const COLUMNS = `name, id, tenant, octet_length(payload) as bytes,
  changed::text as changed, ${time('MS')} as "publishedAt", ${time('US')} as position`

/** Events from `lower` on and before the position `upper`, newest first. */
export async function searchEvents(db: Db, span: EventSpan): Promise<FoundRow[]> {
  const { names, except, id, reach, text, payloads = false, lower, upper, limit } = span
  const { rows } = await db.query(
    `select ${COLUMNS}, case when $10 then payload end as payload
       from svc."__svc.events"
      where published_at >= $1 and published_at <= $2::timestamptz
        and (published_at, name, id) < ($2::timestamptz, $3, $4)
        and ($5::text[] is null or name = any($5))
        and ($11::text is null or not starts_with(name, $11))
        and ($6::text is null or id = $6 or id = coalesce(tenant, '') || E'\\x1f' || $6)
        and ${withinReach('tenant', '$7')}
        and ($8::text is null or payload ~ $8 collate "C")
      order by published_at desc, name desc, id desc
      limit $9`,
    [
      lower,
      ...upper,
      names,
      id ?? null,
      reach,
      text === undefined ? null : inAnyCase(text),
      limit,
      payloads,
      except ?? null,
    ],
  )
  return rows
}

/**
 * A regular expression of Postgres that finds `text` in any case of letters, by Unicode's own rule: which
 * letters `ilike` takes as equal depends on the collation of the database.
 */
const inAnyCase = (text: string): string =>
  Array.from(text)
    .map((one) => {
      const [lower, upper] = [one.toLowerCase(), one.toUpperCase()]
      if (lower === upper) return one.replace(/[!-/:-@[-`{-~]/, String.raw`\$&`)
      // The dotless i has the capital I, which is no case of it: the expression knows that.
      const isSame = new RegExp(`^${one}$`, 'iu')
      const cases = [one, lower, upper, upper.toLowerCase(), lower.toUpperCase()]
      return `[${[...new Set(cases.filter((letter) => isSame.test(letter)))].join('')}]`
    })
    .join('')

export async function findEvent(db: Db, name: string, id: string): Promise<FoundRow | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS}, payload from svc."__svc.events" where name = $1 and id = $2`,
    [name, id],
  )
  return rows[0]
}
