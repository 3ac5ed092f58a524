/** The filters of recipients as they are stored, and which of them have changed. */
import type { Db } from '../postgres/transaction.ts'

/** The recipients that want the same event name (`*`: all of the host) and have the same tenant. */
export interface FilterSet {
  name: string
  /** '' for the operator's. */
  tenant: string
}

/** The snapshot with which a process has read a filter set. */
export interface Seen {
  snapshot: string
  /**
   * The reading transaction, if it had written something: what it writes later is not in its
   * snapshot.
   */
  reader: string | null
  /** The start of the server: another server, or one that was restarted, has other snapshots. */
  server: string
  /** When it was read, by the clock of Postgres, in seconds since 1970. */
  readAt: number
}

export interface FilteredRecipient {
  subscription: string
  recipient: string
  /** JSON text. */
  filter: string
}

export interface Found {
  seen: Seen
  /** Sets, from 1, that have changed since they were read, or were read too long ago. */
  stale: Set<number>
  /** Sets, from 1, that this transaction itself has changed. */
  own: Set<number>
  /** The recipients of each stale set that has some. */
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
    `with filter_set as materialized (
       select n, name, tenant,
              (snapshot is not null and server = extract(epoch from pg_postmaster_start_time())::text
                and read_at > extract(epoch from now()) - $7
                and not exists (
                  select from svc."__svc.filter_changes" as change
                   where change.filter_set = svc."__svc.filter_set"(name, seen.tenant)
                     and change.changed_by >= pg_snapshot_xmin(snapshot)
                     and (change.changed_by = reader
                          or not pg_visible_in_snapshot(change.changed_by, snapshot)))
              ) is not true as is_stale,
              exists (
                select from svc."__svc.filter_changes" as change
                 where change.filter_set = svc."__svc.filter_set"(name, seen.tenant)
                   and change.changed_by = pg_current_xact_id_if_assigned()) as is_own
         -- '' instead of null, which arrays of parameters hold only where the setting array_nulls is on.
         from unnest($1::text[], $2::text[], array_replace($3::text[], '', null)::pg_snapshot[],
                     array_replace($4::text[], '', null)::xid8[], $5::text[], $6::float8[]) with ordinality
                as seen (name, tenant, snapshot, reader, server, read_at, n)
     )
     -- One text of JSON: a host may have set type parsers of its own for other types.
     select null::text as set, null as subscription, null as recipient,
            json_build_object(
              'seen', json_build_object(
                'snapshot', pg_current_snapshot()::text,
                'reader', pg_current_xact_id_if_assigned()::text,
                'server', extract(epoch from pg_postmaster_start_time())::text,
                'readAt', extract(epoch from now())),
              'stale', coalesce(json_agg(n) filter (where is_stale), '[]'),
              'own', coalesce(json_agg(n) filter (where is_own), '[]'))::text as filter
       from filter_set
     union all
     select filter_set.n::text, target.subscription, target.target::text, target.filter::text
       from filter_set
      -- "offset" makes the planner read the index once for each set, instead of the whole table.
      cross join lateral (
        select subscription, target, filter from svc."__svc.targets" as target
         where target.event_name = filter_set.name and target.tenant = filter_set.tenant
           and target.filter is not null
        offset 0
      ) as target
      where filter_set.is_stale`,
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
