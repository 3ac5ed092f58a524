-- Functions of one expression are bound to what their names mean here, and are still merged into the
-- statements that call them.
create or replace function svc."__svc.filter_set"(event_name text, tenant text) returns bigint
language sql immutable
return hashtextextended(event_name || ' ' || tenant, 0);

create or replace function svc."__svc.first_uuid"(at timestamptz) returns uuid
language sql immutable
return (lpad(to_hex(case when at < 'epoch' then 0
                         else floor(extract(epoch from at) * 1000)::bigint end), 12, '0')
        || repeat('0', 20))::uuid;

-- The filters of recipients, by sets: which of those that a process knows are stale, and the recipients of
-- these. A function, because it runs in transactions of a host as well.
create function svc."__svc.find_filters"(
  names text[],
  tenants text[],
  -- In which each was read, and by which transaction; '' instead of null, which arrays of parameters hold
  -- only where the setting array_nulls is on.
  snapshots text[],
  readers text[],
  servers text[],
  read_at float8[],
  kept_seconds float8
) returns table (set text, subscription text, recipient text, filter text)
language sql stable
begin atomic
  with filter_set as materialized (
    select n, name, tenant,
           (snapshot is not null and server = extract(epoch from pg_postmaster_start_time())::text
             and seen.read_at > extract(epoch from now()) - kept_seconds
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
      from unnest(names, tenants, array_replace(snapshots, '', null)::pg_snapshot[],
                  array_replace(readers, '', null)::xid8[], servers, read_at) with ordinality
             as seen (name, tenant, snapshot, reader, server, read_at, n)
  )
  select null::text, null::text, null::text,
         json_build_object(
           'seen', json_build_object(
             'snapshot', pg_current_snapshot()::text,
             'reader', pg_current_xact_id_if_assigned()::text,
             'server', extract(epoch from pg_postmaster_start_time())::text,
             'readAt', extract(epoch from now())),
           'stale', coalesce(json_agg(n) filter (where is_stale), '[]'),
           'own', coalesce(json_agg(n) filter (where is_own), '[]'))::text
    from filter_set
  union all
  select filter_set.n::text, target.subscription, target.target::text, target.filter::text
    from filter_set
   -- "offset" makes the planner read the index once for each set, instead of the whole table.
   cross join lateral (
     select target.subscription, target.target, target.filter from svc."__svc.targets" as target
      where target.event_name = filter_set.name and target.tenant = filter_set.tenant
        and target.filter is not null
     offset 0
   ) as target
   where filter_set.is_stale;
end;

-- What names mean in a function is not for the caller's search_path to decide: schemas of a host may have
-- functions and operators of the same names. New functions say so themselves.
do $$
declare
  made regprocedure;
begin
  for made in
    select pg_proc.oid from pg_proc join pg_language on pg_language.oid = prolang
     where pronamespace = 'svc'::regnamespace and lanname = 'plpgsql'
       and proowner = (select oid from pg_roles where rolname = current_user)
       and not coalesce(proconfig::text, '') like '%search_path%'
  loop
    execute format('alter function %s set search_path = pg_catalog, pg_temp', made);
  end loop;
end
$$;
