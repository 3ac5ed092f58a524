-- A publish can wait after its filters were asked: for an event of the same id, or for a deduplication
-- key, that an open transaction holds. A recipient that gets its first filter meanwhile is among those
-- without a filter when it is asked, and among those with one when the jobs are made. It is noted, so
-- that the event is sent to it.
alter table svc."__svc.filter_changes" add column first_of uuid;
create index on svc."__svc.filter_changes" (changed_by) where first_of is not null;

create function svc."__svc.note_first_filter"() returns trigger
language plpgsql as $$
begin
  insert into svc."__svc.filter_changes" (filter_set, first_of)
  select svc."__svc.filter_set"(old.event_name, old.tenant), old.target
   where exists (
     select from svc."__svc.targets"
      where subscription = old.subscription and target = old.target and filter is not null);
  return null;
end
$$;

-- Where it wants other events too from now on, the row without a filter is deleted and others are
-- inserted. This runs at the end of the statement, and sees them.
create trigger note_first_filter
  after delete or update of filter on svc."__svc.targets" for each row
  when (old.filter is null)
  execute function svc."__svc.note_first_filter"();

-- A publish as 085 has it, which knows of those recipients. Processes of an older version call the
-- function of 085, which has one parameter fewer.
create function svc."__svc.publish"(
  event_names text[],
  -- As they are stored, see event-id.ts.
  event_ids text[],
  payloads text[],
  tenants text[],
  -- Null, or a key of "__svc.kv" for each event, which is published only where its key is free. The
  -- key is taken then, for so many seconds.
  deduplication_keys text[],
  deduplication_seconds float8[],
  -- Recipients whose filter lets an event through: which of the events, from 1, and whose. Null where
  -- filters were not asked: then nothing is written if any recipient has one.
  matched_events int[],
  matched_subscriptions text[],
  matched_targets uuid[],
  -- What the publishing process can start now: the queues it works on, and free slots of each ...
  offered_queues text[],
  offered_slots int[],
  -- ... save jobs of these groups.
  full_groups text[],
  -- Names the process in the jobs that it claims; null where its death would not be seen.
  owner text,
  retry_limit int,
  retry_delay int,
  retry_backoff boolean,
  retry_delay_max int,
  -- Null, or of each event: see telemetry/trace-context.ts.
  trace_contexts text[],
  -- Null, or the snapshot in which the filters were read that have been asked ...
  filters_seen pg_snapshot,
  -- ... and whether nothing is written where one of them has changed since.
  asks_again boolean
) returns text
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
  -- Which of the events to publish, from 1.
  due int[];
  -- Which of them are new, from 1.
  created int[];
  created_names text[];
  created_ids text[];
  all_created boolean;
  written text;
  -- A transaction that began after the commit of this one, or a publish that follows in this one, has
  -- a later moment; one microsecond is less than it takes to write a row.
  moment timestamptz := clock_timestamp();
  -- What recipients want is decided as it was then.
  asked_at pg_snapshot := coalesce(filters_seen, pg_current_snapshot());
begin
  if matched_events is null and exists (
       select from svc."__svc.targets"
        where filter is not null and event_name = any(event_names || '*'::text)) then
    return '{"hasFilters":true}';
  end if;
  -- Nested: where no filters were asked, the query is not even prepared to run.
  if filters_seen is not null and asks_again then
    if exists (
         select from (
           select distinct svc."__svc.filter_set"(wanted.name, its.tenant) as filter_set
             from unnest(event_names, tenants) as given (name, tenant)
            cross join lateral (values (given.name), ('*')) as wanted (name)
            cross join lateral (values (''), (given.tenant)) as its (tenant)
            where its.tenant is not null
         ) as asked
         join svc."__svc.filter_changes" as change on change.filter_set = asked.filter_set
          and change.changed_by >= pg_snapshot_xmin(filters_seen)
          -- Rows that were restored from a dump name transactions of another server.
          and change.changed_by < pg_snapshot_xmax(pg_current_snapshot())
        where change.changed_by is distinct from pg_current_xact_id_if_assigned()
          and not pg_visible_in_snapshot(change.changed_by, filters_seen)) then
      return '{"filtersChanged":true}';
    end if;
  end if;

  -- Rows go in by the order of their key: two batches that share some would deadlock in any other.
  if deduplication_keys is not null then
    with taken as (
      insert into svc."__svc.kv" as kv (key, value, expires_at)
      select key, 'true', clock_timestamp() + make_interval(secs => seconds)
        from unnest(deduplication_keys, deduplication_seconds) as given (key, seconds)
       order by key collate "C"
      on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at
       where kv.expires_at <= clock_timestamp()
      returning key
    )
    select array_agg(given.n::int) into due
      from unnest(deduplication_keys) with ordinality as given (key, n)
     where (given.key in (select key from taken)) is true;
  end if;

  with published as (
    insert into svc."__svc.events" (name, id, payload, tenant, trace_context)
    select name, id, payload, tenant, trace_context
      from unnest(event_names, event_ids, payloads, tenants, trace_contexts) with ordinality
             as given (name, id, payload, tenant, trace_context, n)
     where deduplication_keys is null or given.n = any(due)
     order by name collate "C", id collate "C"
    on conflict (name, id) do nothing
    returning name, id
  )
  select array_agg(name), array_agg(id) into created_names, created_ids from published;
  all_created := coalesce(cardinality(created_ids), 0) = cardinality(event_ids);

  -- A single event is the ordinary case, and "array[1]" costs no query. Nor does a batch of many wait
  -- for a join: hash joins are off here, and a nested loop would compare each event with each other.
  -- "is true" keeps the subquery a hash table.
  if all_created and cardinality(event_ids) = 1 then
    created := array[1];
  elsif all_created then
    created := array(select generate_series(1, cardinality(event_ids)));
  else
    created := array(
      select given.n::int from unnest(event_names, event_ids) with ordinality as given (name, id, n)
       where ((given.name, given.id) in (
               select name, id from unnest(created_names, created_ids) as created (name, id))) is true);
  end if;

  with first_filter as materialized (
    -- Of recipients that had no filter when they were asked.
    select distinct first_of as target from svc."__svc.filter_changes"
     where first_of is not null
       and changed_by >= pg_snapshot_xmin(asked_at)
       and changed_by < pg_snapshot_xmax(pg_current_snapshot())
       and changed_by is distinct from pg_current_xact_id_if_assigned()
       and not pg_visible_in_snapshot(changed_by, asked_at)
  ), recipient as (
    -- An event that existed is wanted only by subscriptions that ask for replays.
    select given.n, given.name, given.id, wants.queue, target.target::text as group_id,
           target.version, gen_random_uuid() as job_id
      from unnest(event_names, event_ids, tenants) with ordinality as given (name, id, tenant, n)
      join svc."__svc.subscriptions" as wants
        on wants.event_name = given.name
       and (all_created or given.n = any(created)
            or not wants.idempotent and deduplication_keys is null)
      left join lateral (
        -- '' for recipients without a tenant.
        select target, version from svc."__svc.targets"
         where wants.targeted and subscription = wants.subscription
           and filter is null and event_name = given.name and tenant = ''
        union all
        select target, version from svc."__svc.targets"
         where wants.targeted and subscription = wants.subscription
           and filter is null and event_name = given.name and tenant = given.tenant
        union all
        select target, version from svc."__svc.targets"
         where wants.targeted and subscription = wants.subscription
           and filter is null and event_name = '*' and tenant = '' and not starts_with(given.name, 'svc.')
        union all
        select target, version from svc."__svc.targets"
         where wants.targeted and subscription = wants.subscription
           and filter is null and event_name = '*' and tenant = given.tenant and not starts_with(given.name, 'svc.')
        union all
        -- A recipient whose filter was removed after it had been asked is among those above.
        select target, null from unnest(matched_events, matched_subscriptions, matched_targets)
                             as matched (n, subscription, target)
         where matched.n = given.n and matched.subscription = wants.subscription
           and exists (
             select from svc."__svc.targets" as filtered
              where filtered.subscription = matched.subscription and filtered.target = matched.target
                and filtered.event_name in (given.name, '*') and filtered.filter is not null)
        union all
        select target, null from first_filter
         where wants.targeted
           and exists (
             select from svc."__svc.targets" as filtered
              where filtered.subscription = wants.subscription and filtered.target = first_filter.target
                and (filtered.event_name = given.name
                     or filtered.event_name = '*' and not starts_with(given.name, 'svc.'))
                and filtered.tenant in ('', given.tenant) and filtered.filter is not null)
           -- A recipient whose former filter matched is among the matched already.
           and target <> all(matched_targets) is not false
      ) as target on true
     where target.target is not null or not wants.targeted
  ), placed as (
    select recipient.*,
           -- Jobs of a group that is restricted, or whose circuit is open, wait apart from the others
           -- from the start.
           job_group.restricted is not null as is_parked,
           job_group.restricted is true as is_restricted,
           job_group.restricted is null and recipient.group_id <> all(full_groups) is not false
             and row_number() over () <= coalesce(
                   offered_slots[array_position(offered_queues, recipient.queue)], 0) as is_claimed
      from recipient
      left join lateral (
        -- The lock keeps the row: without it nobody would look for the group's parked jobs.
        select known.restricted from svc."__svc.job_groups" as known
         where known.queue = recipient.queue and known.group_id = recipient.group_id
           and (known.circuit_open or known.restricted)
           for key share
      ) as job_group on true
  ), job as (
    insert into svc_jobs.job
      (id, name, data, state, blocked, singleton_key, group_id, group_tier, started_on, heartbeat_on,
       created_on, start_after, keep_until, retry_limit, retry_delay, retry_backoff, retry_delay_max,
       expire_seconds, deletion_seconds, heartbeat_seconds, policy, dead_letter)
    select placed.job_id, placed.queue,
           jsonb_strip_nulls(jsonb_build_object(
             'event', placed.name, 'eventId', placed.id, 'target', placed.group_id,
             'deliveryId', placed.job_id)),
           case when placed.is_claimed then 'active' else 'created' end::svc_jobs.job_state,
           placed.is_parked, placed.group_id, placed.group_id,
           case when placed.is_claimed then owner end,
           case when placed.is_claimed then now() end,
           case when placed.is_claimed then clock_timestamp() end,
           moment + placed.n * interval '1 microsecond', now(),
           now() + queue.retention_seconds * interval '1 second',
           "__svc.publish".retry_limit, "__svc.publish".retry_delay, "__svc.publish".retry_backoff,
           "__svc.publish".retry_delay_max,
           queue.expire_seconds, queue.deletion_seconds, queue.heartbeat_seconds, queue.policy,
           queue.dead_letter
      from placed
      join svc_jobs.queue as queue on queue.name = placed.queue
  )
  select json_build_object(
           'created', coalesce(created, '{}'),
           'jobs', count(*),
           'queues', coalesce(json_agg(distinct queue)
                       filter (where not is_claimed and not is_restricted), '[]'),
           'restricted', coalesce(json_agg(json_build_object('queue', queue, 'group', group_id))
                           filter (where is_restricted), '[]'),
           'claimed', coalesce(json_agg(json_build_object(
                        'id', job_id, 'queue', queue, 'group', group_id, 'version', version,
                        'event', n))
                        filter (where is_claimed), '[]'),
           'publishedAt', extract(epoch from now())::float8 * 1000,
           'madeAt', extract(epoch from moment)::float8 * 1000,
           'startedOn', now()::text,
           'transactionId', pg_current_xact_id()::text)::text
    into written from placed;
  return written;
end
$$;
