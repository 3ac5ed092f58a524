/** The filters of recipients as they are stored, and which of them have changed. */
import { tenantOfEvent } from '../event-id.ts'
import type { EventKey } from '../events-table.ts'
import { namesThatMean } from '../event-patterns.ts'
import type { Db } from '../../postgres/transaction.ts'

/** The recipients that want the same event name or pattern and have the same tenant. */
export interface FilterSet {
  name: string
  /** '' for the operator's. */
  tenant: string
}

/** The filter sets of an event: "__svc.recipients_of" finds its recipients by the same rule. */
export function filterSetsOf({ name, id }: EventKey): FilterSet[] {
  const tenant = tenantOfEvent(id)
  const tenants = tenant === null ? [''] : ['', tenant]
  return namesThatMean(name).flatMap((one) => tenants.map((its) => ({ name: one, tenant: its })))
}

export const keyOfSet = ({ name, tenant }: FilterSet): string => `${name}\n${tenant}`

/** The snapshot with which a process has read a filter set. */
export interface Seen {
  snapshot: string
  /**
   * The reading transaction, if it had written something: what it writes later is not in its
   * snapshot.
   */
  reader: string | null
  /** Another server, or one that was started again, has other snapshots: see "__svc.of_snapshots". */
  server: string | null
  /** When it was read, by the clock of Postgres, in seconds since 1970. */
  readAt: number
}

export interface FilteredRecipient {
  subscription: string
  recipient: string
  filter: string
}

export interface Found {
  seen: Seen
  /** Sets, from 1, that have changed since they were read, or were read too long ago. */
  stale: Set<number>
  /** Sets, from 1, that this transaction itself has changed. */
  own: Set<number>
  recipients: Map<number, FilteredRecipient[]>
}

interface Header {
  seen: Seen
  stale: number[]
  own: number[]
}

/** One statement, so that all of it has one snapshot. */
export async function findFilters(
  db: Db,
  sets: (FilterSet & { seen: Seen | undefined })[],
  keptSeconds: number,
): Promise<Found> {
  const { rows } = await db.query(
    // One text of JSON where it is not text: a host may have set type parsers of its own for other types.
    `select set, subscription, recipient, filter
       from svc."__svc.find_filters"($1, $2, $3, $4, $5, $6, $7)`,
    [
      sets.map(({ name }) => name),
      sets.map(({ tenant }) => tenant),
      sets.map(({ seen }) => seen?.snapshot ?? ''),
      sets.map(({ seen }) => seen?.reader ?? ''),
      sets.map(({ seen }) => seen?.server ?? ''),
      sets.map(({ seen }) => seen?.readAt ?? 0),
      keptSeconds,
    ],
  )
  const [first, ...others] = rows as (FilteredRecipient & { set: string | null })[]
  const { seen, stale, own } = JSON.parse(first?.filter ?? '') as Header
  return {
    seen,
    stale: new Set(stale),
    own: new Set(own),
    recipients: Map.groupBy(others, ({ set }) => Number(set)),
  }
}

/**
 * Deletes changes that no process needs any more: filters that were kept for longer are read again.
 */
export async function sweepFilterChanges(db: Db, seconds: number): Promise<void> {
  await db.query(
    `delete from svc."__svc.filter_changes" where changed_at < now() - make_interval(secs => $1)`,
    [seconds],
  )
}
