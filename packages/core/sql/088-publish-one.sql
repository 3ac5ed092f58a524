-- A publish of one event that no recipient filters, which is the ordinary one: what "__svc.publish"
-- does, in three smaller statements. At a few events a second Postgres needs longer to begin the large
-- statement of that function than to write the rows.
--
-- Recipients and filters are read by one name and one tenant at a time: before version 17, Postgres may
-- read all of a subscription where it is given lists of them.
--
-- Processes of several versions call it: it does not change. What has to differ gets a new name.
create function svc."__svc.publish_one"(
  event_name text,
  -- As it is stored, see event-id.ts.
  event_id text,
  payload text,
  tenant text,
  -- Null, or see telemetry/trace-context.ts.
  trace_context text,
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
  retry_delay_max int
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
  -- The other name under which recipients want it: '*' stands for every event of the host.
  any_name text := case when not starts_with(event_name, 'svc.') then '*' end;
  written text;
  -- A transaction that began after the commit of this one, or a publish that follows in this one, has
  -- a later moment.
  moment timestamptz := clock_timestamp();
  -- What recipients want is decided as it was then.
  asked_at pg_snapshot := pg_current_snapshot();
begin
  if exists (
       select from svc."__svc.targets"
        where filter is not null
          and event_name = "__svc.publish_one".event_name and tenant = ''
       union all
       select from svc."__svc.targets"
        where filter is not null
          and event_name = "__svc.publish_one".event_name and tenant = "__svc.publish_one".tenant
       union all
       select from svc."__svc.targets"
        where filter is not null and event_name = any_name and tenant = ''
       union all
       select from svc."__svc.targets"
        where filter is not null
          and event_name = any_name and tenant = "__svc.publish_one".tenant) then
    return '{"hasFilters":true}';
  end if;

  insert into svc."__svc.events" (name, id, payload, tenant, trace_context)
  values ("__svc.publish_one".event_name, "__svc.publish_one".event_id, "__svc.publish_one".payload,
          "__svc.publish_one".tenant, "__svc.publish_one".trace_context)
  on conflict (name, id) do nothing;
  if found then
    -- The insert may have waited for another publish of the same id. This sees what is committed now,
    -- also first filters that were set meanwhile: no job is made then.
    with filtered as materialized (
      -- Whether a recipient has got its first filter since they were asked, see 086.
      select exists (
               select from svc."__svc.filter_changes"
                where first_of is not null
                  and changed_by >= pg_snapshot_xmin(asked_at)
                  and changed_by < pg_snapshot_xmax(pg_current_snapshot())
                  and changed_by is distinct from pg_current_xact_id_if_assigned()
                  and not pg_visible_in_snapshot(changed_by, asked_at)) as is_any
    ), recipient as materialized (
      select wants.queue, target.target::text as group_id, target.version,
             gen_random_uuid() as job_id,
             -- Jobs of a group that is restricted, or whose circuit is open, wait apart from the others
             -- from the start.
             job_group.restricted is not null as is_parked,
             job_group.restricted is true as is_restricted,
             job_group.restricted is null and target.target::text <> all(full_groups) is not false
               and row_number() over () <= coalesce(
                     offered_slots[array_position(offered_queues, wants.queue)], 0) as is_claimed
        from svc."__svc.subscriptions" as wants
        left join lateral (
          -- '' for recipients without a tenant.
          select target, version from svc."__svc.targets"
           where wants.targeted and subscription = wants.subscription and filter is null
             and event_name = "__svc.publish_one".event_name and tenant = ''
          union all
          select target, version from svc."__svc.targets"
           where wants.targeted and subscription = wants.subscription and filter is null
             and event_name = "__svc.publish_one".event_name and tenant = "__svc.publish_one".tenant
          union all
          select target, version from svc."__svc.targets"
           where wants.targeted and subscription = wants.subscription and filter is null
             and event_name = any_name and tenant = ''
          union all
          select target, version from svc."__svc.targets"
           where wants.targeted and subscription = wants.subscription and filter is null
             and event_name = any_name and tenant = "__svc.publish_one".tenant
        ) as target on true
        left join lateral (
          -- The lock prevents that the row is deleted: processes find parked jobs by these rows.
          select known.restricted from svc."__svc.job_groups" as known
           where known.queue = wants.queue and known.group_id = target.target::text
             and (known.circuit_open or known.restricted)
             for key share
        ) as job_group on true
       where wants.event_name = "__svc.publish_one".event_name
         and (target.target is not null or not wants.targeted)
         and not (select is_any from filtered)
    ), job as (
      insert into svc_jobs.job
        (id, name, data, state, blocked, singleton_key, group_id, group_tier, started_on, heartbeat_on,
         created_on, start_after, keep_until, retry_limit, retry_delay, retry_backoff, retry_delay_max,
         expire_seconds, deletion_seconds, heartbeat_seconds, policy, dead_letter)
      select recipient.job_id, recipient.queue,
             jsonb_strip_nulls(jsonb_build_object(
               'event', "__svc.publish_one".event_name, 'eventId', "__svc.publish_one".event_id,
               'target', recipient.group_id, 'deliveryId', recipient.job_id)),
             case when recipient.is_claimed then 'active' else 'created' end::svc_jobs.job_state,
             recipient.is_parked, recipient.group_id, recipient.group_id,
             case when recipient.is_claimed then owner end,
             case when recipient.is_claimed then now() end,
             case when recipient.is_claimed then clock_timestamp() end,
             moment + interval '1 microsecond', now(),
             now() + queue.retention_seconds * interval '1 second',
             "__svc.publish_one".retry_limit, "__svc.publish_one".retry_delay,
             "__svc.publish_one".retry_backoff, "__svc.publish_one".retry_delay_max,
             queue.expire_seconds, queue.deletion_seconds, queue.heartbeat_seconds, queue.policy,
             queue.dead_letter
        from recipient
        join svc_jobs.queue as queue on queue.name = recipient.queue
    )
    select case when (select is_any from filtered) then null
           else json_build_object(
             'created', array[1],
             'jobs', count(*),
             'queues', case when bool_or(not is_claimed and not is_restricted) then (
                         select json_agg(distinct queue) from recipient
                          where not is_claimed and not is_restricted) else '[]' end,
             'restricted', case when bool_or(is_restricted) then (
                             select json_agg(json_build_object('queue', queue, 'group', group_id))
                               from recipient where is_restricted) else '[]' end,
             'claimed', coalesce(json_agg(json_build_object(
                          'id', job_id, 'queue', queue, 'group', group_id, 'version', version,
                          'event', 1))
                          filter (where is_claimed), '[]'),
             'publishedAt', extract(epoch from now())::float8 * 1000,
             'madeAt', extract(epoch from moment)::float8 * 1000,
             'startedOn', now()::text,
             'transactionId', pg_current_xact_id()::text)::text end
      into written from recipient;
    if written is not null then
      return written;
    end if;
    delete from svc."__svc.events"
     where name = "__svc.publish_one".event_name and id = "__svc.publish_one".event_id;
  end if;

  -- The event existed, or a recipient has got its first filter. There was none when they were asked.
  return svc."__svc.publish"(
    array[event_name], array[event_id], array[payload], array[tenant], null, null, '{}', '{}', '{}',
    offered_queues, offered_slots, full_groups, owner,
    retry_limit, retry_delay, retry_backoff, retry_delay_max, array[trace_context], asked_at, false);
end
$$;
