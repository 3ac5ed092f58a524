-- The tables of commit 8cde367 with rows in them, as pg_dump of Postgres 15 wrote them: a host with all
-- plugins made them, published, delivered and failed; a few rows of tables that were empty were added
-- by hand. Never edited: tests/flows/upgrade.test.ts brings them up to the newest.
SET check_function_bodies = false;
SELECT pg_catalog.set_config('search_path', '', false);
CREATE SCHEMA svc;
CREATE SCHEMA svc_jobs;
CREATE TYPE svc_jobs.job_state AS ENUM (
    'created',
    'retry',
    'active',
    'completed',
    'cancelled',
    'failed'
);
CREATE FUNCTION svc."__svc.auth.mark_new_key"() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.inserted_in := pg_current_xact_id();
  return new;
end
$$;
CREATE FUNCTION svc."__svc.auth.take_allowances"(holder uuid, late_ms double precision, subjects text[], periods text[], limits integer[], wants integer[], aheads integer[], helds integer[], return_places integer[], return_stamps double precision[], return_counts integer[], at_ms double precision DEFAULT NULL::double precision) RETURNS TABLE(place integer, granted integer, ahead integer, stamp double precision, used bigint, valid_ms double precision, retry_ms double precision, others_hold integer)
    LANGUAGE plpgsql
    AS $$
declare
  stamps float8[];
  counts integer[];
begin
  -- A crash of Postgres may lose the grants of the last moments, of limits but not of quotas: a
  -- request that waits for them need not wait for the disk.
  if not periods && array['day', 'month', 'total'] then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  -- In one order in all processes: two statements cannot wait for each other.
  for place in
    select i from generate_subscripts(subjects, 1) as i
     order by subjects[i] collate "C", periods[i] collate "C"
  loop
    select array_agg(return_stamps[r]), array_agg(return_counts[r]) into stamps, counts
      from generate_subscripts(return_places, 1) as r where return_places[r] = place;
    if periods[place] in ('day', 'month', 'total') then
      select * into granted, ahead, stamp, used, valid_ms, retry_ms, others_hold
        from svc."__svc.auth.take_of_quota"(subjects[place], periods[place], limits[place],
          wants[place], aheads[place], stamps, counts, at_ms);
    else
      select * into granted, ahead, stamp, used, valid_ms, retry_ms, others_hold
        from svc."__svc.auth.take_of_window"(subjects[place], periods[place]::integer, limits[place],
          holder, late_ms, wants[place], aheads[place], helds[place], stamps, counts, at_ms);
    end if;
    return next;
  end loop;
end
$$;
CREATE FUNCTION svc."__svc.auth.take_of_quota"(whose text, quota_period text, lim integer, want integer, wanted_ahead integer, return_stamps double precision[], return_counts integer[], at_ms double precision, OUT granted integer, OUT ahead integer, OUT stamp double precision, OUT used bigint, OUT valid_ms double precision, OUT retry_ms double precision, OUT others_hold integer) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
  q svc."__svc.auth.quotas";
  now_at timestamptz;
  starts timestamptz;
  ends timestamptz;
begin
  if want > 0 or wanted_ahead > 0 then
    insert into svc."__svc.auth.quotas" values (whose, quota_period, '-infinity', 0)
        on conflict do nothing;
  end if;
  select * into q from svc."__svc.auth.quotas" as r
   where r.subject = whose and r.period = quota_period for update;
  now_at := coalesce(to_timestamp(at_ms / 1000), clock_timestamp());
  if not found then
    q.period_start := '-infinity';
    q.granted := 0;
  end if;
  starts := case when quota_period = 'total' then to_timestamp(0)
    else date_trunc(quota_period, now_at, 'utc') end;
  -- Where the clock was set back the later period goes on.
  if q.period_start < starts then
    q.period_start := starts;
    q.granted := 0;
  end if;
  if quota_period <> 'total' then
    ends := (q.period_start at time zone 'utc' + ('1 ' || quota_period)::interval) at time zone 'utc';
  end if;
  stamp := extract(epoch from q.period_start)::float8 * 1000;
  for r in 1 .. coalesce(cardinality(return_stamps), 0) loop
    if return_stamps[r] = stamp then q.granted := greatest(0, q.granted - return_counts[r]); end if;
  end loop;
  granted := greatest(0, least(want, lim - q.granted));
  -- A tenth of what is left: the last ones are taken one by one.
  ahead := greatest(0, least(wanted_ahead, (lim - q.granted - granted) / 10));
  q.granted := q.granted + granted + ahead;
  used := q.granted;
  valid_ms := extract(epoch from ends - now_at)::float8 * 1000;
  retry_ms := valid_ms;
  others_hold := 0;
  update svc."__svc.auth.quotas" as r
     set period_start = q.period_start, granted = q.granted
   where r.subject = whose and r.period = quota_period
     and (r.period_start, r.granted) is distinct from (q.period_start, q.granted);
end
$$;
CREATE FUNCTION svc."__svc.auth.take_of_window"(whose text, seconds integer, lim integer, holder uuid, late_ms double precision, want integer, wanted_ahead integer, held_here integer, return_stamps double precision[], return_counts integer[], at_ms double precision, OUT granted integer, OUT ahead integer, OUT stamp double precision, OUT used bigint, OUT valid_ms double precision, OUT retry_ms double precision, OUT others_hold integer) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
  w svc."__svc.auth.windows";
  window_ms float8 := seconds * 1000.0;
  slice_ms float8 := case when lim > 128 then window_ms / 128 end;
  now_ms float8;
  times float8[] := '{}';
  counts integer[] := '{}';
  -- The holders that are left, and what they hold.
  ids uuid[] := '{}';
  amounts integer[] := '{}';
  ends float8[] := '{}';
  first_at float8;
  found_at integer;
  others integer := 0;
  -- Granted just now to requests that waited, and given back where they need it no more.
  unsure integer := 0;
  is_set_back boolean := false;
  most_ahead integer := case when lim > 10 then lim / 10 else 0 end;
begin
  loop
    select * into w from svc."__svc.auth.windows" as r
     where r.subject = whose and r.per_seconds = seconds for update;
    exit when found;
    -- What is given back of a row that was deleted makes no new one.
    if want = 0 and wanted_ahead = 0 then
      w.granted_at := '{}';
      w.granted := '{}';
      w.holders := '{}';
      w.held := '{}';
      w.held_until := '{}';
      exit;
    end if;
    insert into svc."__svc.auth.windows" (subject, per_seconds, unused_after)
    values (whose, seconds, 'infinity') on conflict do nothing;
  end loop;
  -- Read under the lock, so that a later grant has a later time.
  now_ms := coalesce(at_ms, extract(epoch from clock_timestamp())::float8 * 1000);
  stamp := now_ms + late_ms;
  for r in 1 .. coalesce(cardinality(return_stamps), 0) loop
    -- The entry that the grant became a part of: it has the first time from the stamp on.
    found_at := null;
    for i in 1 .. cardinality(w.granted_at) loop
      if w.granted_at[i] >= return_stamps[r]
         and (found_at is null or w.granted_at[i] < w.granted_at[found_at]) then
        found_at := i;
      end if;
    end loop;
    if found_at is not null then
      w.granted[found_at] := greatest(0, w.granted[found_at] - return_counts[r]);
    end if;
  end loop;
  used := 0;
  found_at := null;
  for i in 1 .. cardinality(w.granted_at) loop
    -- A time far ahead: the clock was set back. What it counts began at the latest now.
    if w.granted_at[i] > now_ms + 5000 then
      w.granted_at[i] := now_ms;
      is_set_back := true;
    end if;
    if w.granted_at[i] + window_ms > now_ms and w.granted[i] > 0 then
      times := times || w.granted_at[i];
      counts := counts || w.granted[i];
      used := used + w.granted[i];
      first_at := least(first_at, w.granted_at[i]);
      if w.granted_at[i] > now_ms then unsure := unsure + w.granted[i]; end if;
      if floor(w.granted_at[i] / slice_ms) = floor(stamp / slice_ms) then
        found_at := cardinality(times);
      end if;
    end if;
  end loop;
  granted := greatest(0, least(want, lim - used));
  for i in 1 .. cardinality(w.holders) loop
    if w.holders[i] <> holder and w.held_until[i] > now_ms then
      ids := ids || w.holders[i];
      amounts := amounts || w.held[i];
      ends := ends || least(w.held_until[i], now_ms + 60000);
      is_set_back := is_set_back or w.held_until[i] > now_ms + 60000;
      others := others + w.held[i];
    end if;
  end loop;
  others_hold := others + unsure;
  valid_ms := least(window_ms, 60000);
  -- An even share of what may be held in all, and never more than is left of it.
  ahead := greatest(0, least(wanted_ahead, lim - used - granted, most_ahead - others - held_here,
    ceil(most_ahead::float8 / (cardinality(ids) + 1))::integer - held_here));
  if wanted_ahead > 0 or held_here + ahead > 0 then
    ids := ids || holder;
    amounts := amounts || held_here + ahead;
    ends := ends || now_ms + valid_ms;
  end if;
  if granted + ahead > 0 then
    if found_at is null then
      times := times || stamp;
      counts := counts || granted + ahead;
    else
      times[found_at] := greatest(times[found_at], stamp);
      counts[found_at] := counts[found_at] + granted + ahead;
      stamp := times[found_at];
    end if;
    used := used + granted + ahead;
    first_at := least(first_at, stamp);
  end if;
  if first_at is not null then retry_ms := greatest(0, first_at + window_ms - now_ms); end if;
  -- Nothing but times that have passed would be written.
  if granted + ahead = 0 and coalesce(cardinality(return_stamps), 0) = 0 and not is_set_back
     and ids = w.holders and amounts = w.held then
    return;
  end if;
  update svc."__svc.auth.windows" as r
     set granted_at = times, granted = counts, holders = ids, held = amounts, held_until = ends,
         unused_after = date_trunc('hour', to_timestamp((now_ms + window_ms) / 1000))
           + interval '2 hours'
   where r.subject = whose and r.per_seconds = seconds;
end
$$;
CREATE FUNCTION svc."__svc.auth.tell_changed_keys"() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
  changed text[];
begin
  if tg_op = 'UPDATE' then
    select array_agg(was.key_hash) into changed
      from was join now using (id)
     where (was.key_hash, was.user_id, was.scopes, was.expires_at, was.revoked_at,
            was.tenant, was.enabled, was.allowed_ips, was.limits, was.quota, was.allowances_of)
        is distinct from (now.key_hash, now.user_id, now.scopes, now.expires_at, now.revoked_at,
                          now.tenant, now.enabled, now.allowed_ips, now.limits, now.quota,
                          now.allowances_of);
  else
    select array_agg(was.key_hash) into changed from was;
  end if;
  if changed is not null then
    update svc."__svc.auth.epoch"
       set epoch = epoch + cardinality(changed),
           dropped = (dropped || changed)
             [greatest(1, cardinality(dropped) + cardinality(changed) - 255):];
    perform pg_notify('__svc.auth.keys_changed', '');
  end if;
  return null;
end
$$;
CREATE FUNCTION svc."__svc.auth.tenant_of_key"() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.tenant := coalesce(
    (select users.tenant from svc."__svc.auth.users" as users where users.id = new.user_id),
    new.tenant);
  return new;
end
$$;
CREATE FUNCTION svc."__svc.claim_restricted"(queue_name text, group_ids text[], mosts integer[], owner text, begins_within_ms integer, told_grants uuid[], told_after_ms double precision[], told_took_ms double precision[]) RETURNS text
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET jit TO 'off'
    AS $$
#variable_conflict use_column
declare
  wanted record;
  job_group record;
  head record;
  span interval;
  -- A request may reach its receiver so much later than it was begun, but not after its end.
  on_the_way_ms float8;
  -- Attempts that may begin: by the cap of attempts at a time, and by the rate. Null: any number.
  slots_free int;
  rate_free int;
  most int;
  ids uuid[];
  claimed json;
  jobs json[] := '{}';
  count_claimed int;
  count_grants int;
  wait_until timestamptz;
  -- What the process can expect of each group.
  answers json[] := '{}';
begin
  for wanted in
    select group_id, most from unnest(group_ids, mosts) as given (group_id, most) order by group_id
  loop
    select * into job_group from svc."__svc.job_groups" as known
     where known.queue = queue_name and known.group_id = wanted.group_id and known.restricted
       for no key update skip locked;
    if not found or job_group.held or job_group.unparked_since is not null then
      answers := answers || json_build_object('group', wanted.group_id, 'isTold', false, 'isBusy', true);
      continue;
    end if;
    most := wanted.most;
    slots_free := null;
    rate_free := null;
    wait_until := null;
    ids := '{}';
    count_claimed := 0;
    if job_group.rate_limit is not null then
      span := job_group.rate_seconds * interval '1 second';
      on_the_way_ms := least(500 * job_group.rate_seconds, 1000);
      if cardinality(told_grants) > 0 then
        delete from svc."__svc.job_grants" as granted
         where granted.id = any(array(
                 select id from unnest(told_grants, told_after_ms) as told (id, after_ms)
                  where after_ms is null))
           and granted.queue = queue_name and granted.group_id = wanted.group_id;
        update svc."__svc.job_grants" as granted
           set begun_by = least(granted.begun_by, granted.granted_at + interval '1 millisecond'
                 * (told.after_ms + least(told.took_ms, on_the_way_ms)))
          from unnest(told_grants, told_after_ms, told_took_ms) as told (id, after_ms, took_ms)
         where granted.id = told.id and told.after_ms is not null
           and granted.queue = queue_name and granted.group_id = wanted.group_id;
      end if;
      delete from svc."__svc.job_grants" as granted
       where granted.queue = queue_name and granted.group_id = wanted.group_id
         and granted.begun_by <= clock_timestamp() - span;
      select job_group.rate_limit - coalesce(sum(granted.attempts), 0), count(*)
        into rate_free, count_grants
        from svc."__svc.job_grants" as granted
       where granted.queue = queue_name and granted.group_id = wanted.group_id;
      most := least(most, rate_free);
      -- Few rows stand for many attempts: those of each 200th of the span count until the last ends.
      if count_grants > 1000 then
        with older as (
          delete from svc."__svc.job_grants" as granted
           where granted.queue = queue_name and granted.group_id = wanted.group_id
             and granted.granted_at < clock_timestamp() - interval '5 seconds'
          returning granted_at, begun_by, attempts
        )
        insert into svc."__svc.job_grants" (id, queue, group_id, granted_at, begun_by, attempts)
        select gen_random_uuid(), queue_name, wanted.group_id, max(granted_at), max(begun_by), sum(attempts)
          from older
         group by floor(extract(epoch from begun_by) * 200 / job_group.rate_seconds);
      end if;
    end if;
    if job_group.ordered or job_group.max_in_flight is not null then
      select case when job_group.ordered then 1 else job_group.max_in_flight end - count(*)
        into slots_free
        from svc_jobs.job as job
       where job.name = queue_name and job.group_id = wanted.group_id and job.state = 'active';
      most := least(most, slots_free);
    end if;
    if most > 0 and job_group.ordered then
      select job.id, job.start_after into head from svc_jobs.job as job
       where job.name = queue_name and job.singleton_key = wanted.group_id
         and job.blocked and job.state < 'active'
       order by job.created_on, job.id limit 1;
      if found and head.start_after <= clock_timestamp() then
        -- Another one must not take its place where it is being changed just now.
        ids := array(select job.id from svc_jobs.job as job
                      where job.name = queue_name and job.id = head.id
                        and job.blocked and job.state < 'active' and job.start_after <= clock_timestamp()
                        for update skip locked);
      elsif found then
        wait_until := head.start_after;
      end if;
    elsif most > 0 then
      ids := array(select job.id from svc_jobs.job as job
                    where job.name = queue_name and job.singleton_key = wanted.group_id
                      and job.blocked and job.state < 'active' and job.start_after <= clock_timestamp()
                    order by job.start_after limit most
                    for update skip locked);
    end if;
    if cardinality(ids) > 0 then
      -- A claim that a crash of Postgres forgot would let others begin while the attempt runs.
      perform set_config('synchronous_commit', 'on', true);
      with claimed as (
        update svc_jobs.job as job
           set state = 'active', started_on = clock_timestamp(), heartbeat_on = clock_timestamp(),
               group_tier = "__svc.claim_restricted".owner,
               retry_count = job.retry_count + (job.started_on is not null)::int
         where job.name = queue_name and job.id = any(ids)
        returning job.*
      ), marked as materialized (
        select claimed.*,
               case when job_group.rate_limit is not null then gen_random_uuid() end as grant_id
          from claimed
      ), granted as (
        insert into svc."__svc.job_grants" (id, queue, group_id, granted_at, begun_by)
        select grant_id, queue_name, wanted.group_id, clock_timestamp(),
               clock_timestamp() + (begins_within_ms + on_the_way_ms) * interval '1 millisecond'
          from marked where grant_id is not null
      )
      select count(*),
             json_agg(json_build_object(
               'id', id, 'data', data, 'retryCount', retry_count, 'retryLimit', retry_limit,
               'groupId', group_id, 'createdOn', extract(epoch from created_on)::float8 * 1000,
               'startedOn', started_on::text, 'output', case when retry_count > 0 then output end,
               'grantId', grant_id)
               order by start_after)
        into count_claimed, claimed from marked;
      jobs := jobs || claimed;
    end if;
    if rate_free - count_claimed <= 0 then
      -- When so many have left the span that one more may begin.
      select passing.begun_by + span into wait_until
        from (select granted.begun_by, sum(granted.attempts) over (order by granted.begun_by) as gone
                from svc."__svc.job_grants" as granted
               where granted.queue = queue_name and granted.group_id = wanted.group_id) as passing
       where passing.gone > count_claimed - rate_free
       order by passing.begun_by limit 1;
    elsif wait_until is null and count_claimed < most and not job_group.ordered then
      select job.start_after into wait_until from svc_jobs.job as job
       where job.name = queue_name and job.singleton_key = wanted.group_id
         and job.blocked and job.state < 'active'
       order by job.start_after limit 1;
    end if;
    answers := answers || json_build_object(
      'group', wanted.group_id,
      'isTold', true,
      'isBusy', slots_free - count_claimed <= 0,
      'hasMore', count_claimed = wanted.most,
      'waitMs', greatest(0, extract(epoch from wait_until - clock_timestamp())::float8 * 1000));
  end loop;
  return json_build_object('jobs', to_json(jobs), 'answers', to_json(answers))::text;
end
$$;
CREATE FUNCTION svc."__svc.dead_letter_id"() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.id := overlay(
    overlay(gen_random_uuid()::text placing left(svc."__svc.first_uuid"(new.created_on)::text, 13) from 1 for 13)
    placing '7' from 15 for 1)::uuid;
  return new;
end
$$;
CREATE FUNCTION svc."__svc.first_uuid"(at timestamp with time zone) RETURNS uuid
    LANGUAGE sql IMMUTABLE
    AS $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
CREATE FUNCTION svc."__svc.publish"(event_names text[], event_ids text[], payloads text[], tenants text[], deduplication_keys text[], deduplication_seconds double precision[], matched_events integer[], matched_subscriptions text[], matched_targets uuid[], offered_queues text[], offered_slots integer[], full_groups text[], owner text, retry_limit integer, retry_delay integer, retry_backoff boolean, retry_delay_max integer, trace_contexts text[]) RETURNS text
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
#variable_conflict use_column
declare
  -- Which of the events to publish, from 1.
  due int[];
  created int[];
  written text;
  -- A transaction that began after the commit of this one, or a publish that follows in this one, has
  -- a later moment; one microsecond is less than it takes to write a row.
  moment timestamptz := clock_timestamp();
begin
  if matched_events is null and exists (
       select from svc."__svc.targets"
        where filter is not null and event_name = any(event_names || '*'::text)) then
    return '{"hasFilters":true}';
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
      join taken using (key);
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
  select array_agg(given.n::int) into created
    from unnest(event_names, event_ids) with ordinality as given (name, id, n)
    join published using (name, id);
  with recipient as (
    -- An event that existed is wanted only by subscriptions that ask for replays.
    select given.n, given.name, given.id, wants.queue, target.target::text as group_id,
           gen_random_uuid() as job_id
      from unnest(event_names, event_ids, tenants) with ordinality as given (name, id, tenant, n)
      join svc."__svc.subscriptions" as wants
        on wants.event_name = given.name
       and (given.n = any(created) or not wants.idempotent and deduplication_keys is null)
      left join lateral (
        -- '' for recipients without a tenant.
        select target from svc."__svc.targets"
         where wants.targeted and subscription = wants.subscription
           and filter is null and event_name = given.name and tenant = ''
        union all
        select target from svc."__svc.targets"
         where wants.targeted and subscription = wants.subscription
           and filter is null and event_name = given.name and tenant = given.tenant
        union all
        select target from svc."__svc.targets"
         where wants.targeted and subscription = wants.subscription
           and filter is null and event_name = '*' and tenant = '' and not starts_with(given.name, 'svc.')
        union all
        select target from svc."__svc.targets"
         where wants.targeted and subscription = wants.subscription
           and filter is null and event_name = '*' and tenant = given.tenant and not starts_with(given.name, 'svc.')
        union all
        select target from unnest(matched_events, matched_subscriptions, matched_targets)
                             as matched (n, subscription, target)
         where matched.n = given.n and matched.subscription = wants.subscription
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
                        'id', job_id, 'queue', queue, 'group', group_id, 'event', n))
                        filter (where is_claimed), '[]'),
           'publishedAt', extract(epoch from now())::float8 * 1000,
           'startedOn', now()::text,
           'transactionId', pg_current_xact_id()::text)::text
    into written from placed;
  return written;
end
$$;
CREATE FUNCTION svc."__svc.webhooks.drop_log_days"(days_kept integer) RETURNS void
    LANGUAGE plpgsql
    AS $_$
declare
  oldest date := (now() at time zone 'utc')::date - days_kept;
  partition regclass;
begin
  perform pg_advisory_xact_lock(7763002);
  for partition in
    select inhrelid::regclass from pg_inherits
      join pg_class on pg_class.oid = inhrelid
     where inhparent = 'svc."__svc.webhooks.delivery_log"'::regclass
       -- In a `case`, since nothing else says which condition is looked at first.
       and case when relname ~ '\.\d{4}-\d{2}-\d{2}$' then right(relname, 10)::date < oldest end
  loop
    execute format('drop table %s', partition);
  end loop;
  delete from svc."__svc.webhooks.delivery_log.rest"
   where id < svc."__svc.webhooks.first_id"(oldest);
end
$_$;
CREATE FUNCTION svc."__svc.webhooks.first_id"(day date) RETURNS uuid
    LANGUAGE sql IMMUTABLE
    AS $$
  select (lpad(to_hex((extract(epoch from day) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
CREATE FUNCTION svc."__svc.webhooks.make_log_days"(days_ahead integer) RETURNS void
    LANGUAGE plpgsql
    AS $_$
declare
  today date := (now() at time zone 'utc')::date;
  day date;
  name text;
begin
  -- Processes that boot together take turns.
  perform pg_advisory_xact_lock(7763002);
  for step in 0..days_ahead loop
    day := today + step;
    name := '__svc.webhooks.delivery_log.' || day;
    continue when to_regclass(format('svc.%I', name)) is not null;
    -- Made on its own and then attached: `create … partition of` would stop every insert.
    execute format(
      'create table svc.%I (like svc."__svc.webhooks.delivery_log" including constraints)', name);
    -- What has come for this day already stands in the rest, and moves.
    lock table svc."__svc.webhooks.delivery_log.rest" in access exclusive mode;
    execute format(
      'with strays as (
         delete from svc."__svc.webhooks.delivery_log.rest" where id >= %1$L and id < %2$L returning *
       )
       insert into svc.%3$I select * from strays',
      svc."__svc.webhooks.first_id"(day), svc."__svc.webhooks.first_id"(day + 1), name);
    execute format(
      'alter table svc."__svc.webhooks.delivery_log" attach partition svc.%I for values from (%L) to (%L)',
      name, svc."__svc.webhooks.first_id"(day), svc."__svc.webhooks.first_id"(day + 1));
  end loop;
end
$_$;
CREATE FUNCTION svc."__svc.webhooks.published_id"(event_id text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select substr(event_id, strpos(event_id, E'\x1f') + 1)
$$;
CREATE FUNCTION svc_jobs.create_queue(queue_name text, options jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $_$
    DECLARE
      tablename varchar := CASE WHEN options->>'partition' = 'true'
                            THEN 'j' || encode(sha224(queue_name::bytea), 'hex')
                            ELSE 'job_common'
                            END;
      queue_created_on timestamptz;
    BEGIN
      WITH q as (
        INSERT INTO svc_jobs.queue (
          name,
          policy,
          retry_limit,
          retry_delay,
          retry_backoff,
          retry_delay_max,
          expire_seconds,
          retention_seconds,
          deletion_seconds,
          warning_queued,
          dead_letter,
          partition,
          table_name,
          heartbeat_seconds,
          notify,
          created_on,
          updated_on
        )
        VALUES (
          queue_name,
          options->>'policy',
          COALESCE((options->>'retryLimit')::int, 2),
          COALESCE((options->>'retryDelay')::int, 0),
          COALESCE((options->>'retryBackoff')::bool, false),
          (options->>'retryDelayMax')::int,
          COALESCE((options->>'expireInSeconds')::int, 900),
          COALESCE((options->>'retentionSeconds')::int, 1209600),
          COALESCE((options->>'deleteAfterSeconds')::int, 604800),
          COALESCE((options->>'warningQueueSize')::int, 0),
          options->>'deadLetter',
          COALESCE((options->>'partition')::bool, false),
          tablename,
          (options->>'heartbeatSeconds')::int,
          COALESCE((options->>'notify')::bool, false),
          svc_jobs.job_now(),
          svc_jobs.job_now()
        )
        ON CONFLICT DO NOTHING
        RETURNING created_on
      )
      SELECT created_on into queue_created_on from q;
      IF queue_created_on IS NULL OR options->>'partition' IS DISTINCT FROM 'true' THEN
        RETURN;
      END IF;
      EXECUTE format('CREATE TABLE svc_jobs.%I (LIKE svc_jobs.job INCLUDING DEFAULTS)', tablename);
      EXECUTE svc_jobs.job_table_format($cmd$ALTER TABLE svc_jobs.job ADD PRIMARY KEY (name, id)$cmd$, tablename);
      EXECUTE svc_jobs.job_table_format($cmd$ALTER TABLE svc_jobs.job ADD CONSTRAINT q_fkey FOREIGN KEY (name) REFERENCES svc_jobs.queue (name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED$cmd$, tablename);
      EXECUTE svc_jobs.job_table_format($cmd$ALTER TABLE svc_jobs.job ADD CONSTRAINT dlq_fkey FOREIGN KEY (dead_letter) REFERENCES svc_jobs.queue (name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED$cmd$, tablename);
      EXECUTE svc_jobs.job_table_format($cmd$CREATE INDEX job_i11 ON svc_jobs.job (name, priority DESC, created_on, start_after) WHERE state < 'active' AND NOT blocked$cmd$, tablename);
      EXECUTE svc_jobs.job_table_format($cmd$CREATE UNIQUE INDEX job_i4 ON svc_jobs.job (name, singleton_on, COALESCE(singleton_key, '')) WHERE state <> 'cancelled' AND singleton_on IS NOT NULL$cmd$, tablename);
      EXECUTE svc_jobs.job_table_format($cmd$CREATE INDEX job_i7 ON svc_jobs.job (name, group_id) WHERE state = 'active' AND group_id IS NOT NULL$cmd$, tablename);
      EXECUTE svc_jobs.job_table_format($cmd$CREATE INDEX job_i9 ON svc_jobs.job (name, id) WHERE blocking AND state = 'completed'$cmd$, tablename);
      EXECUTE svc_jobs.job_table_format($cmd$CREATE INDEX job_i12 ON svc_jobs.job (source_root_id) WHERE source_root_id IS NOT NULL$cmd$, tablename);
      IF options->>'policy' = 'short' THEN
        EXECUTE svc_jobs.job_table_format($cmd$CREATE UNIQUE INDEX job_i1 ON svc_jobs.job (name, COALESCE(singleton_key, '')) WHERE state = 'created' AND policy = 'short'$cmd$, tablename);
      ELSIF options->>'policy' = 'singleton' THEN
        EXECUTE svc_jobs.job_table_format($cmd$CREATE UNIQUE INDEX job_i2 ON svc_jobs.job (name, COALESCE(singleton_key, '')) WHERE state = 'active' AND policy = 'singleton'$cmd$, tablename);
      ELSIF options->>'policy' = 'stately' THEN
        EXECUTE svc_jobs.job_table_format($cmd$CREATE UNIQUE INDEX job_i3 ON svc_jobs.job (name, state, COALESCE(singleton_key, '')) WHERE state <= 'active' AND policy = 'stately'$cmd$, tablename);
      ELSIF options->>'policy' = 'exclusive' THEN
        EXECUTE svc_jobs.job_table_format($cmd$CREATE UNIQUE INDEX job_i6 ON svc_jobs.job (name, COALESCE(singleton_key, '')) WHERE state <= 'active' AND policy = 'exclusive'$cmd$, tablename);
      ELSIF options->>'policy' = 'key_strict_fifo' THEN
        EXECUTE svc_jobs.job_table_format($cmd$CREATE UNIQUE INDEX job_i8 ON svc_jobs.job (name, singleton_key) WHERE state IN ('active', 'retry', 'failed') AND policy = 'key_strict_fifo'$cmd$, tablename);
        EXECUTE svc_jobs.job_table_format($cmd$CREATE INDEX job_i10 ON svc_jobs.job (name, singleton_key, state DESC, created_on, id) INCLUDE (start_after) WHERE state < 'active' AND NOT blocked AND policy = 'key_strict_fifo'$cmd$, tablename);
        EXECUTE svc_jobs.job_table_format($cmd$ALTER TABLE svc_jobs.job ADD CONSTRAINT job_key_strict_fifo_singleton_key_check CHECK (NOT (policy = 'key_strict_fifo' AND singleton_key IS NULL))$cmd$, tablename);
      END IF;
      EXECUTE format('ALTER TABLE svc_jobs.%I ADD CONSTRAINT cjc CHECK (name=%L)', tablename, queue_name);
      EXECUTE format('ALTER TABLE svc_jobs.job ATTACH PARTITION svc_jobs.%I FOR VALUES IN (%L)', tablename, queue_name);
    END;
    $_$;
CREATE FUNCTION svc_jobs.delete_queue(queue_name text) RETURNS void
    LANGUAGE plpgsql
    AS $$
    DECLARE
      v_table varchar;
      v_partition bool;
    BEGIN
      SELECT table_name, partition
      FROM svc_jobs.queue
      WHERE name = queue_name
      INTO v_table, v_partition;
      IF v_partition THEN
        EXECUTE format('DROP TABLE IF EXISTS svc_jobs.%I', v_table);
      ELSE
        EXECUTE format('DELETE FROM svc_jobs.%I WHERE name = %L', v_table, queue_name);
      END IF;
      DELETE FROM svc_jobs.queue WHERE name = queue_name;
    END;
    $$;
CREATE FUNCTION svc_jobs.job_now() RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    AS $$
      SELECT pg_catalog.now();
    $$;
CREATE FUNCTION svc_jobs.job_table_format(command text, table_name text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $_$
      SELECT format(
        regexp_replace(
          regexp_replace(command, '\.job\y', '.%1$I', 'g'),
          '\yjob_i(\d+)', '%1$s_i\1', 'g'
        ),
        table_name
      );
    $_$;
CREATE FUNCTION svc_jobs.job_table_run(command text, tbl_name text DEFAULT NULL::text, queue_name text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql
    AS $$
    DECLARE
      tbl RECORD;
    BEGIN
      IF queue_name IS NOT NULL THEN
        SELECT table_name INTO tbl_name FROM svc_jobs.queue WHERE name = queue_name;
      END IF;
      IF tbl_name IS NOT NULL THEN
        EXECUTE svc_jobs.job_table_format(command, tbl_name);
        RETURN;
      END IF;
      EXECUTE svc_jobs.job_table_format(command, 'job_common');
      FOR tbl IN SELECT table_name FROM svc_jobs.queue WHERE partition = true
      LOOP
        EXECUTE svc_jobs.job_table_format(command, tbl.table_name);
      END LOOP;
    END;
    $$;
CREATE FUNCTION svc_jobs.job_table_run_async(command_name text, version integer, command text, tbl_name text DEFAULT NULL::text, queue_name text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql
    AS $$
    BEGIN
      IF queue_name IS NOT NULL THEN
        SELECT table_name INTO tbl_name FROM svc_jobs.queue WHERE name = queue_name;
      END IF;
      IF tbl_name IS NOT NULL THEN
        INSERT INTO svc_jobs.bam (name, version, status, queue, table_name, command)
        VALUES (
          command_name,
          version,
          'pending',
          queue_name,
          tbl_name,
          svc_jobs.job_table_format(command, tbl_name)
        );
        RETURN;
      END IF;
      INSERT INTO svc_jobs.bam (name, version, status, queue, table_name, command)
      SELECT
        command_name,
        version,
        'pending',
        NULL,
        'job_common',
        svc_jobs.job_table_format(command, 'job_common')
      UNION ALL
      SELECT
        command_name,
        version,
        'pending',
        queue.name,
        queue.table_name,
        svc_jobs.job_table_format(command, queue.table_name)
      FROM svc_jobs.queue
      WHERE partition = true;
    END;
    $$;
CREATE TABLE svc."__svc.audit" (
    id uuid NOT NULL,
    tenant text COLLATE pg_catalog."C",
    actor_kind text NOT NULL COLLATE pg_catalog."C",
    actor_key_id uuid,
    actor_user_id text COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    target_kind text NOT NULL COLLATE pg_catalog."C",
    target_id text NOT NULL COLLATE pg_catalog."C",
    changes jsonb,
    request_id text,
    ip text
);
CREATE TABLE svc."__svc.auth.api_keys" (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    key_hash text NOT NULL COLLATE pg_catalog."C",
    key_prefix text NOT NULL COLLATE pg_catalog."C",
    label text,
    scopes text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    inserted_in xid8,
    tenant text COLLATE pg_catalog."C",
    enabled boolean DEFAULT true NOT NULL,
    metadata jsonb,
    allowed_ips text[],
    replaces uuid,
    replaced_by uuid,
    limits jsonb,
    quota jsonb,
    allowances_of uuid,
    CONSTRAINT "__svc.auth.api_keys_key_hash_check" CHECK ((key_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT "__svc.auth.api_keys_key_prefix_check" CHECK ((length(key_prefix) <= 8))
);
CREATE TABLE svc."__svc.auth.epoch" (
    is_only boolean DEFAULT true NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    dropped text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT "__svc.auth.epoch_is_only_check" CHECK (is_only)
);
CREATE TABLE svc."__svc.auth.failing_prefixes" (
    prefix text NOT NULL COLLATE pg_catalog."C",
    is_blocked boolean NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    changed_in xid8 NOT NULL
);
CREATE TABLE svc."__svc.auth.key_notices" (
    key_id uuid NOT NULL,
    notice text NOT NULL COLLATE pg_catalog."C",
    published_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE svc."__svc.auth.quotas" (
    subject text NOT NULL COLLATE pg_catalog."C",
    period text NOT NULL COLLATE pg_catalog."C",
    period_start timestamp with time zone NOT NULL,
    granted bigint NOT NULL,
    CONSTRAINT "__svc.auth.quotas_period_check" CHECK ((period = ANY (ARRAY['day'::text, 'month'::text, 'total'::text])))
)
WITH (fillfactor='70');
CREATE TABLE svc."__svc.auth.usage" (
    key_id uuid NOT NULL,
    hour timestamp with time zone NOT NULL,
    tenant text COLLATE pg_catalog."C",
    allowed bigint NOT NULL,
    rate_limited bigint NOT NULL,
    quota_exceeded bigint NOT NULL,
    forbidden bigint NOT NULL,
    expired bigint NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE svc."__svc.auth.users" (
    id uuid NOT NULL,
    email text,
    name text NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    tenant text COLLATE pg_catalog."C",
    tenant_email text,
    CONSTRAINT "__svc.auth.users_tenant_check" CHECK ((tenant ~ '^[A-Za-z0-9_.:-]{1,64}$'::text))
);
CREATE TABLE svc."__svc.auth.windows" (
    subject text NOT NULL COLLATE pg_catalog."C",
    per_seconds integer NOT NULL,
    granted_at double precision[] DEFAULT '{}'::double precision[] NOT NULL,
    granted integer[] DEFAULT '{}'::integer[] NOT NULL,
    holders uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    held integer[] DEFAULT '{}'::integer[] NOT NULL,
    held_until double precision[] DEFAULT '{}'::double precision[] NOT NULL,
    unused_after timestamp with time zone NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE svc."__svc.console.portal_codes" (
    code_hash bytea NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    user_id text COLLATE pg_catalog."C",
    rights text[] NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE svc."__svc.console.sessions" (
    id uuid NOT NULL,
    token_hash bytea NOT NULL,
    via text NOT NULL COLLATE pg_catalog."C",
    key_id uuid,
    user_id text COLLATE pg_catalog."C",
    tenant text COLLATE pg_catalog."C",
    rights text[],
    ip text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT "__svc.console.sessions_via_check" CHECK ((via = ANY (ARRAY['key'::text, 'portal'::text])))
);
CREATE TABLE svc."__svc.events" (
    name text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    payload text NOT NULL,
    published_at timestamp with time zone DEFAULT now() NOT NULL,
    keep_until timestamp with time zone,
    tenant text COLLATE pg_catalog."C",
    trace_context text
);
CREATE TABLE svc."__svc.job_grants" (
    id uuid NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    group_id text NOT NULL COLLATE pg_catalog."C",
    granted_at timestamp with time zone NOT NULL,
    begun_by timestamp with time zone NOT NULL,
    attempts integer DEFAULT 1 NOT NULL
);
CREATE TABLE svc."__svc.job_groups" (
    queue text NOT NULL COLLATE pg_catalog."C",
    group_id text NOT NULL COLLATE pg_catalog."C",
    held boolean DEFAULT false NOT NULL,
    circuit_open boolean DEFAULT false NOT NULL,
    parked_at timestamp with time zone DEFAULT now() NOT NULL,
    restricted boolean DEFAULT false NOT NULL,
    rate_limit integer,
    rate_seconds integer,
    max_in_flight integer,
    ordered boolean DEFAULT false NOT NULL,
    unparked_since timestamp with time zone
);
CREATE TABLE svc."__svc.job_moves" (
    id bigint NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    group_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    before_id uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT "__svc.job_moves_kind_check" CHECK ((kind = ANY (ARRAY['discard'::text, 'redrive'::text, 'bury'::text])))
);
ALTER TABLE svc."__svc.job_moves" ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME svc."__svc.job_moves_id_seq"
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE svc."__svc.kv" (
    key text NOT NULL COLLATE pg_catalog."C",
    value jsonb NOT NULL,
    expires_at timestamp with time zone
);
CREATE TABLE svc."__svc.migrations" (
    owner text NOT NULL,
    name text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE svc."__svc.processes" (
    id uuid NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    renewed_at timestamp with time zone DEFAULT now() NOT NULL,
    closed_at timestamp with time zone,
    declares jsonb NOT NULL,
    is_locked boolean DEFAULT false NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE svc."__svc.recoveries" (
    id uuid NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    group_id text NOT NULL COLLATE pg_catalog."C",
    what text NOT NULL,
    since timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    per_second integer,
    deliveries integer,
    done integer DEFAULT 0 NOT NULL,
    next_at timestamp with time zone DEFAULT now() NOT NULL,
    after_transaction xid8,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT "__svc.recoveries_what_check" CHECK ((what = ANY (ARRAY['dead'::text, 'failed'::text, 'missing'::text])))
);
CREATE TABLE svc."__svc.subscriptions" (
    event_name text NOT NULL COLLATE pg_catalog."C",
    subscription text NOT NULL COLLATE pg_catalog."C",
    queue text NOT NULL,
    idempotent boolean DEFAULT true NOT NULL,
    targeted boolean DEFAULT false NOT NULL,
    keep_days integer DEFAULT 0 NOT NULL
);
CREATE TABLE svc."__svc.targets" (
    subscription text NOT NULL COLLATE pg_catalog."C",
    event_name text NOT NULL COLLATE pg_catalog."C",
    target uuid NOT NULL,
    tenant text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    filter jsonb
);
CREATE TABLE svc."__svc.webhooks.deleted_webhooks" (
    id uuid NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    deleted_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE svc."__svc.webhooks.delivery_log" (
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    event_id text COLLATE pg_catalog."C",
    payload text,
    delivery_id uuid NOT NULL,
    attempt integer NOT NULL,
    status text NOT NULL,
    status_code smallint,
    error text,
    duration_ms integer,
    response_body text,
    attempted_at timestamp with time zone NOT NULL,
    next_attempt_at timestamp with time zone,
    tenant text COLLATE pg_catalog."C",
    url text,
    CONSTRAINT "__svc.webhooks.delivery_log_status_check" CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'dead'::text, 'skipped'::text])))
)
PARTITION BY RANGE (id);
CREATE TABLE svc."__svc.webhooks.delivery_log.2026-11-22" (
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    event_id text COLLATE pg_catalog."C",
    payload text,
    delivery_id uuid NOT NULL,
    attempt integer NOT NULL,
    status text NOT NULL,
    status_code smallint,
    error text,
    duration_ms integer,
    response_body text,
    attempted_at timestamp with time zone NOT NULL,
    next_attempt_at timestamp with time zone,
    tenant text COLLATE pg_catalog."C",
    url text,
    CONSTRAINT "__svc.webhooks.delivery_log_status_check" CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'dead'::text, 'skipped'::text])))
);
CREATE TABLE svc."__svc.webhooks.delivery_log.2026-11-23" (
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    event_id text COLLATE pg_catalog."C",
    payload text,
    delivery_id uuid NOT NULL,
    attempt integer NOT NULL,
    status text NOT NULL,
    status_code smallint,
    error text,
    duration_ms integer,
    response_body text,
    attempted_at timestamp with time zone NOT NULL,
    next_attempt_at timestamp with time zone,
    tenant text COLLATE pg_catalog."C",
    url text,
    CONSTRAINT "__svc.webhooks.delivery_log_status_check" CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'dead'::text, 'skipped'::text])))
);
CREATE TABLE svc."__svc.webhooks.delivery_log.2026-11-24" (
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    event_id text COLLATE pg_catalog."C",
    payload text,
    delivery_id uuid NOT NULL,
    attempt integer NOT NULL,
    status text NOT NULL,
    status_code smallint,
    error text,
    duration_ms integer,
    response_body text,
    attempted_at timestamp with time zone NOT NULL,
    next_attempt_at timestamp with time zone,
    tenant text COLLATE pg_catalog."C",
    url text,
    CONSTRAINT "__svc.webhooks.delivery_log_status_check" CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'dead'::text, 'skipped'::text])))
);
CREATE TABLE svc."__svc.webhooks.delivery_log.2026-11-25" (
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    event_id text COLLATE pg_catalog."C",
    payload text,
    delivery_id uuid NOT NULL,
    attempt integer NOT NULL,
    status text NOT NULL,
    status_code smallint,
    error text,
    duration_ms integer,
    response_body text,
    attempted_at timestamp with time zone NOT NULL,
    next_attempt_at timestamp with time zone,
    tenant text COLLATE pg_catalog."C",
    url text,
    CONSTRAINT "__svc.webhooks.delivery_log_status_check" CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'dead'::text, 'skipped'::text])))
);
CREATE TABLE svc."__svc.webhooks.delivery_log.rest" (
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    event_id text COLLATE pg_catalog."C",
    payload text,
    delivery_id uuid NOT NULL,
    attempt integer NOT NULL,
    status text NOT NULL,
    status_code smallint,
    error text,
    duration_ms integer,
    response_body text,
    attempted_at timestamp with time zone NOT NULL,
    next_attempt_at timestamp with time zone,
    tenant text COLLATE pg_catalog."C",
    url text,
    CONSTRAINT "__svc.webhooks.delivery_log_status_check" CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'dead'::text, 'skipped'::text])))
);
CREATE TABLE svc."__svc.webhooks.inbound_log" (
    id uuid NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    tenant text COLLATE pg_catalog."C",
    outcome text NOT NULL,
    reason text,
    event text COLLATE pg_catalog."C",
    event_id text COLLATE pg_catalog."C",
    ip text,
    bytes integer NOT NULL,
    duration_ms integer NOT NULL,
    url text,
    headers text,
    body bytea,
    CONSTRAINT "__svc.webhooks.inbound_log_outcome_check" CHECK ((outcome = ANY (ARRAY['accepted'::text, 'duplicate'::text, 'refused'::text, 'failed'::text])))
);
CREATE TABLE svc."__svc.webhooks.missing_events" (
    recovery_id uuid NOT NULL,
    n bigint NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    event_id text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE svc."__svc.webhooks.recent_attempts" (
    at timestamp with time zone NOT NULL,
    webhook_id uuid NOT NULL,
    tenant text COLLATE pg_catalog."C",
    event text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    duration_ms integer,
    first_attempt_ms integer
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');
CREATE TABLE svc."__svc.webhooks.registrations" (
    id uuid NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    label text,
    active boolean DEFAULT true NOT NULL,
    secret text NOT NULL,
    previous_secret text,
    previous_secret_expires_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    description text,
    metadata jsonb,
    filter jsonb,
    headers jsonb,
    timeout_ms integer,
    retry jsonb,
    rate_limit jsonb,
    max_in_flight integer,
    ordered boolean DEFAULT false NOT NULL,
    transform text,
    disabled_at timestamp with time zone,
    disabled_reason text,
    failing_since timestamp with time zone,
    last_success_at timestamp with time zone,
    last_failure_at timestamp with time zone,
    tenant text COLLATE pg_catalog."C",
    failed_attempts integer DEFAULT 0 NOT NULL,
    warned_at timestamp with time zone,
    probe_after timestamp with time zone
);
CREATE TABLE svc."__svc.webhooks.stats" (
    period text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone NOT NULL,
    webhook_id uuid NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    tenant text COLLATE pg_catalog."C",
    delivered integer NOT NULL,
    failed integer NOT NULL,
    skipped integer NOT NULL,
    dead integer NOT NULL,
    durations integer[] NOT NULL,
    first_attempts integer[] NOT NULL,
    CONSTRAINT "__svc.webhooks.stats_period_check" CHECK ((period = ANY (ARRAY['minute'::text, 'hour'::text, 'day'::text])))
);
CREATE TABLE svc_jobs.bam (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    queue text,
    table_name text NOT NULL,
    command text NOT NULL,
    error text,
    created_on timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_on timestamp with time zone,
    completed_on timestamp with time zone
);
CREATE TABLE svc_jobs.job (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    data jsonb,
    state svc_jobs.job_state DEFAULT 'created'::svc_jobs.job_state NOT NULL,
    retry_limit integer DEFAULT 2 NOT NULL,
    retry_count integer DEFAULT 0 NOT NULL,
    retry_delay integer DEFAULT 0 NOT NULL,
    retry_backoff boolean DEFAULT false NOT NULL,
    retry_delay_max integer,
    expire_seconds integer DEFAULT 900 NOT NULL,
    deletion_seconds integer DEFAULT 604800 NOT NULL,
    singleton_key text,
    singleton_on timestamp without time zone,
    group_id text,
    group_tier text,
    start_after timestamp with time zone DEFAULT now() NOT NULL,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    started_on timestamp with time zone,
    completed_on timestamp with time zone,
    keep_until timestamp with time zone DEFAULT (now() + '336:00:00'::interval) NOT NULL,
    output jsonb,
    dead_letter text,
    policy text,
    heartbeat_on timestamp with time zone,
    heartbeat_seconds integer,
    blocked boolean DEFAULT false NOT NULL,
    blocking boolean DEFAULT false NOT NULL,
    pending_dependencies integer DEFAULT 0 NOT NULL,
    source_name text,
    source_id uuid,
    source_created_on timestamp with time zone,
    source_retry_count integer,
    source_output jsonb,
    source_root_id uuid
)
PARTITION BY LIST (name);
CREATE TABLE svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    data jsonb,
    state svc_jobs.job_state DEFAULT 'created'::svc_jobs.job_state NOT NULL,
    retry_limit integer DEFAULT 2 NOT NULL,
    retry_count integer DEFAULT 0 NOT NULL,
    retry_delay integer DEFAULT 0 NOT NULL,
    retry_backoff boolean DEFAULT false NOT NULL,
    retry_delay_max integer,
    expire_seconds integer DEFAULT 900 NOT NULL,
    deletion_seconds integer DEFAULT 604800 NOT NULL,
    singleton_key text,
    singleton_on timestamp without time zone,
    group_id text,
    group_tier text,
    start_after timestamp with time zone DEFAULT now() NOT NULL,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    started_on timestamp with time zone,
    completed_on timestamp with time zone,
    keep_until timestamp with time zone DEFAULT (now() + '336:00:00'::interval) NOT NULL,
    output jsonb,
    dead_letter text,
    policy text,
    heartbeat_on timestamp with time zone,
    heartbeat_seconds integer,
    blocked boolean DEFAULT false NOT NULL,
    blocking boolean DEFAULT false NOT NULL,
    pending_dependencies integer DEFAULT 0 NOT NULL,
    source_name text,
    source_id uuid,
    source_created_on timestamp with time zone,
    source_retry_count integer,
    source_output jsonb,
    source_root_id uuid,
    CONSTRAINT cjc CHECK ((name = '__svc.webhooks.deliver'::text))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500', autovacuum_analyze_scale_factor='0.05', autovacuum_analyze_threshold='500');
CREATE TABLE svc_jobs.job_common (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    data jsonb,
    state svc_jobs.job_state DEFAULT 'created'::svc_jobs.job_state NOT NULL,
    retry_limit integer DEFAULT 2 NOT NULL,
    retry_count integer DEFAULT 0 NOT NULL,
    retry_delay integer DEFAULT 0 NOT NULL,
    retry_backoff boolean DEFAULT false NOT NULL,
    retry_delay_max integer,
    expire_seconds integer DEFAULT 900 NOT NULL,
    deletion_seconds integer DEFAULT 604800 NOT NULL,
    singleton_key text,
    singleton_on timestamp without time zone,
    group_id text,
    group_tier text,
    start_after timestamp with time zone DEFAULT now() NOT NULL,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    started_on timestamp with time zone,
    completed_on timestamp with time zone,
    keep_until timestamp with time zone DEFAULT (now() + '336:00:00'::interval) NOT NULL,
    output jsonb,
    dead_letter text,
    policy text,
    heartbeat_on timestamp with time zone,
    heartbeat_seconds integer,
    blocked boolean DEFAULT false NOT NULL,
    blocking boolean DEFAULT false NOT NULL,
    pending_dependencies integer DEFAULT 0 NOT NULL,
    source_name text,
    source_id uuid,
    source_created_on timestamp with time zone,
    source_retry_count integer,
    source_output jsonb,
    source_root_id uuid,
    CONSTRAINT job_key_strict_fifo_singleton_key_check CHECK ((NOT ((policy = 'key_strict_fifo'::text) AND (singleton_key IS NULL))))
);
CREATE TABLE svc_jobs.job_dependency (
    child_name text NOT NULL,
    child_id uuid NOT NULL,
    parent_name text NOT NULL,
    parent_id uuid NOT NULL
);
CREATE TABLE svc_jobs.queue (
    name text NOT NULL,
    policy text NOT NULL,
    retry_limit integer NOT NULL,
    retry_delay integer NOT NULL,
    retry_backoff boolean NOT NULL,
    retry_delay_max integer,
    expire_seconds integer NOT NULL,
    retention_seconds integer NOT NULL,
    deletion_seconds integer NOT NULL,
    dead_letter text,
    partition boolean NOT NULL,
    table_name text NOT NULL,
    deferred_count integer DEFAULT 0 NOT NULL,
    queued_count integer DEFAULT 0 NOT NULL,
    ready_count integer DEFAULT 0 NOT NULL,
    warning_queued integer DEFAULT 0 NOT NULL,
    active_count integer DEFAULT 0 NOT NULL,
    failed_count integer DEFAULT 0 NOT NULL,
    total_count integer DEFAULT 0 NOT NULL,
    created_delta integer DEFAULT 0 NOT NULL,
    completed_delta integer DEFAULT 0 NOT NULL,
    failed_delta integer DEFAULT 0 NOT NULL,
    delta_on timestamp with time zone,
    delta_seconds integer,
    ready_history integer[] DEFAULT '{}'::integer[] NOT NULL,
    heartbeat_seconds integer,
    notify boolean DEFAULT false NOT NULL,
    singletons_active text[],
    monitor_claim_on timestamp with time zone,
    monitor_on timestamp with time zone,
    maintain_on timestamp with time zone,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    updated_on timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT queue_check CHECK ((dead_letter IS DISTINCT FROM name))
);
CREATE TABLE svc_jobs.queue_stats (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    deferred_count integer DEFAULT 0 NOT NULL,
    queued_count integer DEFAULT 0 NOT NULL,
    ready_count integer DEFAULT 0 NOT NULL,
    active_count integer DEFAULT 0 NOT NULL,
    failed_count integer DEFAULT 0 NOT NULL,
    total_count integer DEFAULT 0 NOT NULL,
    created_delta integer,
    completed_delta integer,
    failed_delta integer,
    delta_seconds integer,
    delta_on timestamp with time zone,
    captured_on timestamp with time zone DEFAULT now() NOT NULL
)
PARTITION BY RANGE (captured_on);
CREATE TABLE svc_jobs.queue_stats_20261122 (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    deferred_count integer DEFAULT 0 NOT NULL,
    queued_count integer DEFAULT 0 NOT NULL,
    ready_count integer DEFAULT 0 NOT NULL,
    active_count integer DEFAULT 0 NOT NULL,
    failed_count integer DEFAULT 0 NOT NULL,
    total_count integer DEFAULT 0 NOT NULL,
    created_delta integer,
    completed_delta integer,
    failed_delta integer,
    delta_seconds integer,
    delta_on timestamp with time zone,
    captured_on timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE svc_jobs.queue_stats_20261123 (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    deferred_count integer DEFAULT 0 NOT NULL,
    queued_count integer DEFAULT 0 NOT NULL,
    ready_count integer DEFAULT 0 NOT NULL,
    active_count integer DEFAULT 0 NOT NULL,
    failed_count integer DEFAULT 0 NOT NULL,
    total_count integer DEFAULT 0 NOT NULL,
    created_delta integer,
    completed_delta integer,
    failed_delta integer,
    delta_seconds integer,
    delta_on timestamp with time zone,
    captured_on timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE svc_jobs.schedule (
    name text NOT NULL,
    key text DEFAULT ''::text NOT NULL,
    kind text DEFAULT 'cron'::text NOT NULL,
    cron text NOT NULL,
    timezone text DEFAULT 'UTC'::text,
    data jsonb,
    options jsonb,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    updated_on timestamp with time zone DEFAULT now() NOT NULL,
    last_job_id uuid,
    CONSTRAINT schedule_kind_check CHECK ((kind = ANY (ARRAY['cron'::text, 'rrule'::text])))
);
CREATE TABLE svc_jobs.subscription (
    event text NOT NULL,
    name text NOT NULL,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    updated_on timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE svc_jobs.version (
    version integer NOT NULL,
    cron_on timestamp with time zone,
    bam_on timestamp with time zone,
    flow_on timestamp with time zone,
    reindex_on timestamp with time zone,
    monitor_backoff_on timestamp with time zone
);
CREATE TABLE svc_jobs.warning (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    type text NOT NULL,
    message text NOT NULL,
    data jsonb,
    created_on timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY svc."__svc.webhooks.delivery_log" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-22" FOR VALUES FROM ('01a2008d-7400-0000-0000-000000000000') TO ('01a205b3-d000-0000-0000-000000000000');
ALTER TABLE ONLY svc."__svc.webhooks.delivery_log" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-23" FOR VALUES FROM ('01a205b3-d000-0000-0000-000000000000') TO ('01a20ada-2c00-0000-0000-000000000000');
ALTER TABLE ONLY svc."__svc.webhooks.delivery_log" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-24" FOR VALUES FROM ('01a20ada-2c00-0000-0000-000000000000') TO ('01a21000-8800-0000-0000-000000000000');
ALTER TABLE ONLY svc."__svc.webhooks.delivery_log" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-25" FOR VALUES FROM ('01a21000-8800-0000-0000-000000000000') TO ('01a21526-e400-0000-0000-000000000000');
ALTER TABLE ONLY svc."__svc.webhooks.delivery_log" ATTACH PARTITION svc."__svc.webhooks.delivery_log.rest" DEFAULT;
ALTER TABLE ONLY svc_jobs.job ATTACH PARTITION svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e FOR VALUES IN ('__svc.webhooks.deliver');
ALTER TABLE ONLY svc_jobs.job ATTACH PARTITION svc_jobs.job_common DEFAULT;
ALTER TABLE ONLY svc_jobs.queue_stats ATTACH PARTITION svc_jobs.queue_stats_20261122 FOR VALUES FROM ('2026-11-22 00:00:00+00') TO ('2026-11-23 00:00:00+00');
ALTER TABLE ONLY svc_jobs.queue_stats ATTACH PARTITION svc_jobs.queue_stats_20261123 FOR VALUES FROM ('2026-11-23 00:00:00+00') TO ('2026-11-24 00:00:00+00');
INSERT INTO svc."__svc.audit" VALUES
	('01a20334-a685-70f7-a2c0-20e8a8607946', NULL, 'process', NULL, NULL, 'user.create', 'user', '01a20334-a683-7208-95b1-4e3ab426f2dd', '{"name": {"to": "Ada", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "ada@example.com", "from": null}}', NULL, NULL),
	('01a20334-a692-768f-9954-6582e7ca9cdc', 'acme', 'process', NULL, NULL, 'user.create', 'user', '01a20334-a690-7506-9e90-8fc52e131b12', '{"name": {"to": "Bob", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "bob@acme.example", "from": null}, "tenant": {"to": "acme", "from": null}}', NULL, NULL),
	('01a20334-a6ae-71cd-b642-0bd0862e928c', NULL, 'process', NULL, NULL, 'key.create', 'key', '01a20334-a6ab-73bd-85d3-ef698673bd18', '{"key": {"to": "***", "from": null}, "label": {"to": "CI", "from": null}, "scopes": {"to": ["admin"], "from": null}, "userId": {"to": "01a20334-a683-7208-95b1-4e3ab426f2dd", "from": null}, "enabled": {"to": true, "from": null}}', NULL, NULL),
	('01a20334-a6dd-713e-86b7-684c58444680', 'acme', 'process', NULL, NULL, 'key.create', 'key', '01a20334-a6d9-71f4-a32c-ad67a3657334', '{"key": {"to": "***", "from": null}, "quota": {"to": {"limit": 1000, "period": "month"}, "from": null}, "limits": {"to": [{"limit": 100, "perSeconds": 60}], "from": null}, "scopes": {"to": ["read"], "from": null}, "userId": {"to": "01a20334-a690-7506-9e90-8fc52e131b12", "from": null}, "enabled": {"to": true, "from": null}, "metadata": {"to": {"team": "x"}, "from": null}, "expiresAt": {"to": "2026-12-12T12:21:51.951Z", "from": null}}', NULL, NULL),
	('01a20334-a6fe-7221-a864-dff920997909', 'acme', 'process', NULL, NULL, 'key.create', 'key', '01a20334-a6f9-72d7-8340-fa892d63b5dc', '{"key": {"to": "***", "from": null}, "scopes": {"to": ["read"], "from": null}, "userId": {"to": "01a20334-a690-7506-9e90-8fc52e131b12", "from": null}, "enabled": {"to": true, "from": null}}', NULL, NULL),
	('01a20334-a70f-72e6-b49e-7c13958cd3b6', 'acme', 'process', NULL, NULL, 'key.revoke', 'key', '01a20334-a6f9-72d7-8340-fa892d63b5dc', '{"revoked": {"to": true, "from": false}}', NULL, NULL),
	('01a20334-a7f5-7452-85ae-6c221f4e491c', NULL, 'process', NULL, NULL, 'webhook.create', 'webhook', '01a20334-a7dc-72aa-8819-ec2e8039a952', '{"url": {"to": "http://127.0.0.1:44401/ok", "from": null}, "active": {"to": true, "from": null}, "events": {"to": ["*"], "from": null}, "secret": {"to": "***", "from": null}, "ordered": {"to": false, "from": null}}', NULL, NULL),
	('01a20334-a804-7148-9526-bc80211250ba', 'acme', 'process', NULL, NULL, 'webhook.create', 'webhook', '01a20334-a7fe-7544-8b23-923fbae287b3', '{"url": {"to": "http://127.0.0.1:44401/fails", "from": null}, "active": {"to": true, "from": null}, "events": {"to": ["order.created"], "from": null}, "secret": {"to": "***", "from": null}, "tenant": {"to": "acme", "from": null}, "headers": {"to": "***", "from": null}, "ordered": {"to": false, "from": null}, "description": {"to": "fails", "from": null}}', NULL, NULL),
	('01a20334-a82b-73f2-80d5-f27fa0c848a7', NULL, 'process', NULL, NULL, 'webhook.create', 'webhook', '01a20334-a812-7620-9342-10a41e500fd7', '{"url": {"to": "http://127.0.0.1:44401/ok", "from": null}, "active": {"to": true, "from": null}, "events": {"to": ["order.created"], "from": null}, "filter": {"to": {"payload": {"total": {"$gt": 1}}}, "from": null}, "secret": {"to": "***", "from": null}, "ordered": {"to": true, "from": null}, "rateLimit": {"to": {"limit": 10, "perSeconds": 1}, "from": null}}', NULL, NULL),
	('01a20334-b291-742d-963e-be982a5ba014', NULL, 'key', '01a20334-a6ab-73bd-85d3-ef698673bd18', '01a20334-a683-7208-95b1-4e3ab426f2dd', 'webhook.update', 'webhook', '01a20334-a812-7620-9342-10a41e500fd7', '{"active": {"to": false, "from": true}}', 'req-8', '127.0.0.1'),
	('01a20334-b2c1-70cb-add2-2e1bc4704c34', NULL, 'process', NULL, NULL, 'webhook.create', 'webhook', '01a20334-b2af-741f-8b16-e23286e7193a', '{"url": {"to": "http://127.0.0.1:44401/ok", "from": null}, "active": {"to": true, "from": null}, "events": {"to": ["order.shipped"], "from": null}, "secret": {"to": "***", "from": null}, "ordered": {"to": false, "from": null}}', NULL, NULL),
	('01a20334-b2d2-758f-add1-2395fab4089b', NULL, 'key', '01a20334-a6ab-73bd-85d3-ef698673bd18', '01a20334-a683-7208-95b1-4e3ab426f2dd', 'webhook.delete', 'webhook', '01a20334-b2af-741f-8b16-e23286e7193a', '{"url": {"to": null, "from": "http://127.0.0.1:44401/ok"}, "active": {"to": null, "from": true}, "events": {"to": null, "from": ["order.shipped"]}, "secret": {"to": null, "from": "***"}, "ordered": {"to": null, "from": false}}', 'req-9', '127.0.0.1'),
	('01a20334-c6aa-7643-8718-3056c4549979', 'acme', 'process', NULL, NULL, 'webhook.recover', 'webhook', '01a20334-a7fe-7544-8b23-923fbae287b3', '{"recovery": {"to": {"id": "01a20334-c69d-70b0-b21f-52c454562415", "what": "dead", "since": "2026-11-22T11:22:00.044Z", "until": "2026-11-22T12:22:00.071Z"}, "from": null}, "deliveries": {"to": 1, "from": null}}', NULL, NULL);
INSERT INTO svc."__svc.auth.api_keys" VALUES
	('01a20334-a6f9-72d7-8340-fa892d63b5dc', '01a20334-a690-7506-9e90-8fc52e131b12', '8f155115f5702da864254a89b7bab7fcde05c24957f5d799cd538f16063a4840', 'svc_Si9e', NULL, '{read}', '2026-11-22 12:21:51.985218+00', NULL, '2026-11-22 12:21:52.007185+00', NULL, '1024', 'acme', true, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	('01a20334-a6ab-73bd-85d3-ef698673bd18', '01a20334-a683-7208-95b1-4e3ab426f2dd', 'a01af652d5c7daefb408c42200ccbf67f7f84d815c9e8ec74c66a528050a9ee2', 'svc_I6y5', 'CI', '{admin}', '2026-11-22 12:21:51.894683+00', NULL, NULL, '2026-11-22 12:21:52.124+00', '1022', NULL, true, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	('01a20334-a6d9-71f4-a32c-ad67a3657334', '01a20334-a690-7506-9e90-8fc52e131b12', '5e69699fb0ef1add825aa335e0bc816a64f2487dbfead142f1fbda4f60637a6d', 'svc_xHon', NULL, '{read}', '2026-11-22 12:21:51.953039+00', '2026-12-12 12:21:51.951+00', NULL, '2026-11-22 12:21:52.155+00', '1023', 'acme', true, '{"team": "x"}', NULL, NULL, NULL, '[{"limit": 100, "perSeconds": 60}]', '{"limit": 1000, "period": "month"}', NULL);
INSERT INTO svc."__svc.auth.epoch" VALUES
	(true, 1, '{8f155115f5702da864254a89b7bab7fcde05c24957f5d799cd538f16063a4840}');
INSERT INTO svc."__svc.auth.failing_prefixes" VALUES
	('svc_xHon', false, '2026-11-22 12:22:52.211567+00', '1029');
INSERT INTO svc."__svc.auth.key_notices" VALUES
	('01a20334-a6d9-71f4-a32c-ad67a3657334', 'expiring:30', '2026-11-22 12:23:06.756446+00');
INSERT INTO svc."__svc.auth.quotas" VALUES
	('key:01a20334-a6d9-71f4-a32c-ad67a3657334', 'month', '2026-11-01 00:00:00+00', 1);
INSERT INTO svc."__svc.auth.usage" VALUES
	('01a20334-a6ab-73bd-85d3-ef698673bd18', '2026-11-22 12:00:00+00', NULL, 3, 0, 0, 0, 0),
	('01a20334-a6d9-71f4-a32c-ad67a3657334', '2026-11-22 12:00:00+00', 'acme', 1, 0, 0, 0, 0);
INSERT INTO svc."__svc.auth.users" VALUES
	('01a20334-a683-7208-95b1-4e3ab426f2dd', 'ada@example.com', 'Ada', 'user', '2026-11-22 12:21:51.873208+00', NULL, NULL),
	('01a20334-a690-7506-9e90-8fc52e131b12', NULL, 'Bob', 'user', '2026-11-22 12:21:51.885701+00', 'acme', 'bob@acme.example');
INSERT INTO svc."__svc.auth.windows" VALUES
	('key:01a20334-a6d9-71f4-a32c-ad67a3657334', 60, '{1795350112208.629}', '{1}', '{}', '{}', '{}', '2026-11-22 14:00:00+00');
INSERT INTO svc."__svc.console.portal_codes" VALUES
	('\xb50fba9c3f25ed7866842ee858f1fb2d59bb9daf6d9d5533fb3f39819fa07823', 'acme', NULL, '{webhooks:read,webhooks:write,deliveries:read,deliveries:write,events:read}', '2026-11-22 12:32:00.127708+00');
INSERT INTO svc."__svc.console.sessions" VALUES
	('00000000-0000-4000-8000-000000000003', '\x01', 'portal', NULL, NULL, 'acme', '{all}', NULL, '2026-11-22 12:23:06.77126+00', '2026-11-22 20:23:06.77126+00');
INSERT INTO svc."__svc.events" VALUES
	('svc.key.created', '01a20334-a6b9-70bf-a3e4-509b453992a3', '{"keyId":"01a20334-a6ab-73bd-85d3-ef698673bd18","userId":"01a20334-a683-7208-95b1-4e3ab426f2dd","tenant":null,"keyPrefix":"svc_I6y5","label":"CI","expiresAt":null,"lastUsedAt":null}', '2026-11-22 12:21:51.894683+00', NULL, NULL, NULL),
	('svc.key.created', 'acme01a20334-a6e6-73e4-aa8f-81635086ea85', '{"keyId":"01a20334-a6d9-71f4-a32c-ad67a3657334","userId":"01a20334-a690-7506-9e90-8fc52e131b12","tenant":"acme","keyPrefix":"svc_xHon","label":null,"expiresAt":"2026-12-12T12:21:51.951Z","lastUsedAt":null}', '2026-11-22 12:21:51.953039+00', NULL, 'acme', NULL),
	('svc.key.created', 'acme01a20334-a6ff-7329-9741-48c635b862dc', '{"keyId":"01a20334-a6f9-72d7-8340-fa892d63b5dc","userId":"01a20334-a690-7506-9e90-8fc52e131b12","tenant":"acme","keyPrefix":"svc_Si9e","label":null,"expiresAt":null,"lastUsedAt":null}', '2026-11-22 12:21:51.985218+00', NULL, 'acme', NULL),
	('svc.key.revoked', 'acme01a20334-a715-773f-8e9b-392a5e4ec7fb', '{"keyId":"01a20334-a6f9-72d7-8340-fa892d63b5dc","userId":"01a20334-a690-7506-9e90-8fc52e131b12","tenant":"acme","keyPrefix":"svc_Si9e","label":null,"expiresAt":null,"lastUsedAt":null}', '2026-11-22 12:21:52.007185+00', NULL, 'acme', NULL),
	('order.created', 'acmefirst', '{"id":1,"total":5}', '2026-11-22 12:21:52.337126+00', NULL, 'acme', NULL),
	('order.created', '01a20334-ad9a-7588-8ae3-c954fc0d3abb', '{"id":2,"total":5,"fail":true}', '2026-11-22 12:21:53.69612+00', NULL, NULL, NULL),
	('order.shipped', '01a20334-b23b-7232-804d-ddf9fe71f741', '{"order":3}', '2026-11-22 12:21:54.908917+00', NULL, NULL, NULL),
	('order.created', '01a20334-c616-70d1-a82e-dfb34101d4d4', '{"id":4,"total":9}', '2026-11-22 12:21:59.977265+00', NULL, NULL, NULL),
	('order.shipped', 'acme01a20334-c663-71d7-9391-adc567110e3d', '{"id":5}', '2026-11-22 12:22:00.040473+00', NULL, 'acme', NULL);
INSERT INTO svc."__svc.job_grants" VALUES
	('00000000-0000-4000-8000-000000000004', '__svc.webhooks.deliver', '00000000-0000-4000-8000-000000000001', '2026-11-22 12:23:06.779006+00', '2026-11-22 12:23:06.779006+00', 1);
INSERT INTO svc."__svc.job_groups" VALUES
	('__svc.webhooks.deliver', '01a20334-a812-7620-9342-10a41e500fd7', true, false, '2026-11-22 12:21:54.949026+00', true, 10, 1, NULL, true, NULL),
	('__svc.webhooks.deliver', '01a20334-b2af-741f-8b16-e23286e7193a', false, false, '2026-11-22 12:21:55.076525+00', false, NULL, NULL, NULL, false, NULL),
	('__svc.webhooks.deliver', '01a20334-a7fe-7544-8b23-923fbae287b3', false, false, '2026-11-22 12:22:00.120768+00', false, NULL, NULL, NULL, false, NULL);
INSERT INTO svc."__svc.job_moves" OVERRIDING SYSTEM VALUE VALUES
	(2, '__svc.webhooks.deliver', '00000000-0000-4000-8000-000000000001', 'discard', NULL, '2026-11-22 12:23:06.74929+00');
INSERT INTO svc."__svc.kv" VALUES
	('__svc.auth.failures/svc_xHon', '{"failures": [1795350112.187038, 1795350112.201836, 1795350112.211567]}', '2026-11-22 12:22:52.211567+00'),
	('dump', '"kept"', NULL);
INSERT INTO svc."__svc.migrations" VALUES
	('@svc/core', '001-core.sql', '2026-11-22 12:21:47.465607+00'),
	('@svc/core', '002-retention.sql', '2026-11-22 12:21:47.548895+00'),
	('@svc/core', '003-processes.sql', '2026-11-22 12:21:47.577304+00'),
	('@svc/core', '004-job-groups.sql', '2026-11-22 12:21:47.587899+00'),
	('@svc/core', '005-tenants.sql', '2026-11-22 12:21:47.624788+00'),
	('@svc/core', '006-process-locks.sql', '2026-11-22 12:21:47.648621+00'),
	('@svc/core', '007-publish.sql', '2026-11-22 12:21:47.66335+00'),
	('@svc/core', '020-audit.sql', '2026-11-22 12:21:47.693966+00'),
	('@svc/core', '021-restricted-groups.sql', '2026-11-22 12:21:47.723249+00'),
	('@svc/core', '025-trace-context.sql', '2026-11-22 12:21:47.774827+00'),
	('@svc/core', '030-recoveries.sql', '2026-11-22 12:21:47.782264+00'),
	('@svc/auth', '001-auth.sql', '2026-11-22 12:21:48.27068+00'),
	('@svc/auth', '002-changes.sql', '2026-11-22 12:21:48.337373+00'),
	('@svc/auth', '003-tenants-and-keys.sql', '2026-11-22 12:21:48.356505+00'),
	('@svc/auth', '004-notices-of-keys.sql', '2026-11-22 12:21:48.394361+00'),
	('@svc/auth', '020-allowances.sql', '2026-11-22 12:21:48.426799+00'),
	('@svc/auth', '021-usage.sql', '2026-11-22 12:21:48.470747+00'),
	('@svc/auth', '022-limits-of-keys.sql', '2026-11-22 12:21:48.502434+00'),
	('@svc/webhooks', '001-webhooks.sql', '2026-11-22 12:21:48.857589+00'),
	('@svc/webhooks', '002-parked-deliveries.sql', '2026-11-22 12:21:48.922567+00'),
	('@svc/webhooks', '020-webhook-settings.sql', '2026-11-22 12:21:48.932577+00'),
	('@svc/webhooks', '021-webhook-tenants.sql', '2026-11-22 12:21:48.953605+00'),
	('@svc/webhooks', '030-inbound-log.sql', '2026-11-22 12:21:48.967281+00'),
	('@svc/webhooks', '040-restricted-webhooks.sql', '2026-11-22 12:21:49.003685+00'),
	('@svc/webhooks', '045-failing-webhooks.sql', '2026-11-22 12:21:49.011979+00'),
	('@svc/webhooks', '050-delivery-lists.sql', '2026-11-22 12:21:49.030188+00'),
	('@svc/webhooks', '051-missing-events.sql', '2026-11-22 12:21:49.12111+00'),
	('@svc/webhooks', '052-stats.sql', '2026-11-22 12:21:49.15336+00'),
	('@svc/console', '001-sessions.sql', '2026-11-22 12:21:58.845245+00');
INSERT INTO svc."__svc.processes" VALUES
	('01a20334-bf91-71ec-b92c-7d857559161f', '2026-11-22 12:21:58.454623+00', '2026-11-22 12:21:59.869836+00', '2026-11-22 12:22:00.196433+00', '{"days": {"auditRetentionDays": 365, "eventRetentionDays": 30, "deadLetterRetentionDays": 90, "inboundLogRetentionDays": 7, "deliveryLogRetentionDays": 30}, "events": {"order.created": ["order.created"], "__svc.webhooks": ["order.created", "order.shipped", "svc.delivery.dead", "svc.key.created", "svc.key.expired", "svc.key.expiring", "svc.key.leaked", "svc.key.revoked", "svc.key.rotated", "svc.key.unused", "svc.webhook.disabled", "svc.webhook.failing", "svc.webhook.recovered"]}}', false),
	('01a20334-97bb-7078-a52a-aacede300006', '2026-11-22 12:21:49.648984+00', '2026-11-22 12:21:51.686543+00', '2026-11-22 12:21:58.100896+00', '{"days": {"auditRetentionDays": 365, "eventRetentionDays": 30, "deadLetterRetentionDays": 90, "inboundLogRetentionDays": 7, "deliveryLogRetentionDays": 30}, "events": {"order.created": ["order.created"], "__svc.webhooks": ["order.created", "order.shipped", "svc.delivery.dead", "svc.key.created", "svc.key.expired", "svc.key.expiring", "svc.key.leaked", "svc.key.revoked", "svc.key.rotated", "svc.key.unused", "svc.webhook.disabled", "svc.webhook.failing", "svc.webhook.recovered"]}}', true);
INSERT INTO svc."__svc.recoveries" VALUES
	('01a20334-c69d-70b0-b21f-52c454562415', '__svc.webhooks.deliver', '01a20334-a7fe-7544-8b23-923fbae287b3', 'dead', '2026-11-22 11:22:00.044+00', '2026-11-22 12:22:00.071+00', NULL, 1, 1, '2026-11-22 12:22:00.165922+00', NULL, '2026-11-22 12:22:00.103439+00', '2026-11-22 12:22:00.120768+00');
INSERT INTO svc."__svc.subscriptions" VALUES
	('order.created', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('order.shipped', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('svc.delivery.dead', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('svc.key.created', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('svc.key.expired', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('svc.key.expiring', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('svc.key.leaked', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('svc.key.revoked', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('svc.key.rotated', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('svc.key.unused', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('svc.webhook.disabled', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('svc.webhook.failing', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('svc.webhook.recovered', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('order.created', 'order.created', '__svc.sub/order.created', true, false, 0);
INSERT INTO svc."__svc.targets" VALUES
	('__svc.webhooks', '*', '01a20334-a7dc-72aa-8819-ec2e8039a952', '', NULL),
	('__svc.webhooks', 'order.created', '01a20334-a7fe-7544-8b23-923fbae287b3', 'acme', NULL);
INSERT INTO svc."__svc.webhooks.deleted_webhooks" VALUES
	('00000000-0000-4000-8000-000000000002', 'acme', '2026-11-22 12:23:06.76503+00');
INSERT INTO svc."__svc.webhooks.delivery_log.2026-11-22" VALUES
	('01a20334-a989-72ad-a66c-40cad8f45a30', '01a20334-a7fe-7544-8b23-923fbae287b3', 'order.created', 'acmefirst', NULL, '00cc0468-1504-4c11-9da1-3d714f16065e', 1, 'failed', 500, 'http', 152, '', '2026-11-22 12:21:52.41+00', '2026-11-22 12:21:53.579+00', 'acme', NULL),
	('01a20334-a9bb-771d-bafe-d3fe911044b4', '01a20334-a812-7620-9342-10a41e500fd7', 'order.created', 'acmefirst', NULL, '0b5cdaed-e876-4d6d-8453-4bd6e0ab5e06', 1, 'delivered', 204, NULL, 88, '', '2026-11-22 12:21:52.508+00', NULL, NULL, NULL),
	('01a20334-a9bb-771d-bafe-cc8d6dc08d69', '01a20334-a7dc-72aa-8819-ec2e8039a952', 'order.created', 'acmefirst', NULL, 'afd54f6c-a23c-44d9-a438-ec60e58561be', 1, 'delivered', 204, NULL, 154, '', '2026-11-22 12:21:52.438+00', NULL, NULL, NULL),
	('01a20334-ad77-7544-acb4-bd8266a29807', '01a20334-a7fe-7544-8b23-923fbae287b3', 'order.created', 'acmefirst', NULL, '00cc0468-1504-4c11-9da1-3d714f16065e', 2, 'dead', 500, 'http', 1, '', '2026-11-22 12:21:53.617+00', NULL, 'acme', NULL),
	('01a20334-adba-738b-b2ee-5369cc8b1693', '01a20334-a7dc-72aa-8819-ec2e8039a952', 'order.created', '01a20334-ad9a-7588-8ae3-c954fc0d3abb', NULL, '79fc9655-7e78-4df6-9c20-f1f7a52c6cc4', 1, 'delivered', 204, NULL, 18, '', '2026-11-22 12:21:53.704+00', NULL, NULL, NULL),
	('01a20334-add1-72ad-add5-ca6813a8e85b', '01a20334-a812-7620-9342-10a41e500fd7', 'order.created', '01a20334-ad9a-7588-8ae3-c954fc0d3abb', NULL, 'aabe5c58-4bfa-46e8-b224-7597bb305559', 1, 'delivered', 204, NULL, 10, '', '2026-11-22 12:21:53.721+00', NULL, NULL, NULL),
	('01a20334-b28c-7389-a033-3e04d63ad8f8', '01a20334-a7dc-72aa-8819-ec2e8039a952', 'order.shipped', '01a20334-b23b-7232-804d-ddf9fe71f741', NULL, '7c00758b-9683-47c4-a547-2e41acabd4c4', 1, 'delivered', 204, NULL, 20, '', '2026-11-22 12:21:54.932+00', NULL, NULL, NULL);
INSERT INTO svc."__svc.webhooks.inbound_log" VALUES
	('01a20334-b23b-7232-804d-d9c988445275', 'shop', NULL, 'accepted', NULL, 'order.shipped', '01a20334-b23b-7232-804d-ddf9fe71f741', '127.0.0.1', 11, 90, NULL, NULL, NULL),
	('01a20334-b272-7000-bd0e-a29981ab4d7c', 'shop', NULL, 'refused', 'no signature matches', NULL, NULL, '127.0.0.1', 11, 0, NULL, NULL, NULL);
INSERT INTO svc."__svc.webhooks.missing_events" VALUES
	('01a20334-c69d-70b0-b21f-52c454562415', 1, 'order.created', 'first');
INSERT INTO svc."__svc.webhooks.recent_attempts" VALUES
	('2026-11-22 12:21:52.41+00', '01a20334-a7fe-7544-8b23-923fbae287b3', 'acme', 'order.created', 'failed', 152, 73),
	('2026-11-22 12:21:52.508+00', '01a20334-a812-7620-9342-10a41e500fd7', NULL, 'order.created', 'delivered', 88, 171),
	('2026-11-22 12:21:52.438+00', '01a20334-a7dc-72aa-8819-ec2e8039a952', NULL, 'order.created', 'delivered', 154, 101),
	('2026-11-22 12:21:53.617+00', '01a20334-a7fe-7544-8b23-923fbae287b3', 'acme', 'order.created', 'dead', 1, NULL),
	('2026-11-22 12:21:53.704+00', '01a20334-a7dc-72aa-8819-ec2e8039a952', NULL, 'order.created', 'delivered', 18, 8),
	('2026-11-22 12:21:53.721+00', '01a20334-a812-7620-9342-10a41e500fd7', NULL, 'order.created', 'delivered', 10, 25),
	('2026-11-22 12:21:54.932+00', '01a20334-a7dc-72aa-8819-ec2e8039a952', NULL, 'order.shipped', 'delivered', 20, 24);
INSERT INTO svc."__svc.webhooks.registrations" VALUES
	('01a20334-a7fe-7544-8b23-923fbae287b3', 'http://127.0.0.1:44401/fails', '{order.created}', NULL, true, 'whsec_ELhep6gaQIY8cYZp1/TFQVqMkbXi+1tSwUWZuA9Bd8A=', NULL, NULL, '2026-11-22 12:21:52.254269+00', '2026-11-22 12:21:52.254269+00', 'fails', NULL, NULL, '{"x-own": "secret"}', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, '2026-11-22 12:21:52.566143+00', NULL, '2026-11-22 12:21:53.621231+00', 'acme', 2, NULL, NULL),
	('01a20334-a7dc-72aa-8819-ec2e8039a952', 'http://127.0.0.1:44401/ok', '{*}', NULL, true, 'whsec_WdiBRLwYJd/aBbKlZEEtYy5HIUQO4u2lajgQdiB1a/0=', NULL, NULL, '2026-11-22 12:21:52.220802+00', '2026-11-22 12:21:52.220802+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, '2026-11-22 12:21:54.959471+00', NULL, NULL, 0, NULL, NULL),
	('01a20334-a812-7620-9342-10a41e500fd7', 'http://127.0.0.1:44401/ok', '{order.created}', NULL, false, 'whsec_BuJnj6cByXOpts+7JsYO5OLLtwZFhQ8/kI70pXQaywo=', NULL, NULL, '2026-11-22 12:21:52.277024+00', '2026-11-22 12:21:54.949026+00', NULL, NULL, '{"payload": {"total": {"$gt": 1}}}', NULL, NULL, NULL, '{"limit": 10, "perSeconds": 1}', NULL, true, NULL, NULL, NULL, NULL, '2026-11-22 12:21:53.739629+00', NULL, NULL, 0, NULL, NULL);
INSERT INTO svc."__svc.webhooks.stats" VALUES
	('day', '2026-11-22 00:00:00+00', '01a20334-a7fe-7544-8b23-923fbae287b3', 'order.created', 'acme', 3, 1, 0, 1, '{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}', '{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}');
INSERT INTO svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e VALUES
	('00cc0468-1504-4c11-9da1-3d714f16065e', '__svc.webhooks.deliver', -1, '{"event": "order.created", "target": "01a20334-a7fe-7544-8b23-923fbae287b3", "eventId": "acme\u001ffirst", "deliveryId": "00cc0468-1504-4c11-9da1-3d714f16065e"}', 'failed', 1, 1, 1, false, 43200, 86399, 60, '01a20334-a7fe-7544-8b23-923fbae287b3', NULL, '01a20334-a7fe-7544-8b23-923fbae287b3', '01a20334-97bb-7078-a52a-aacede300006', '2026-11-22 12:21:53.579462+00', '2026-11-22 12:21:52.337245+00', '2026-11-22 12:21:53.609682+00', '2026-11-22 12:21:53.619285+00', '2036-11-19 12:21:52.337126+00', '{"error": "http", "attempt": 2, "durationMs": 1, "statusCode": 500, "attemptedAt": "2026-11-22T12:21:53.617Z", "responseBody": ""}', '__svc.webhooks.deliver.dlq', 'standard', NULL, 20, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL),
	('12fe6127-48f0-4f5f-8451-1e5917b99a1f', '__svc.webhooks.deliver', 0, '{"event": "order.created", "target": "01a20334-a7dc-72aa-8819-ec2e8039a952", "eventId": "01a20334-c616-70d1-a82e-dfb34101d4d4", "deliveryId": "12fe6127-48f0-4f5f-8451-1e5917b99a1f"}', 'created', 1, 0, 1, false, 43200, 86399, 60, '01a20334-a7dc-72aa-8819-ec2e8039a952', NULL, '01a20334-a7dc-72aa-8819-ec2e8039a952', NULL, '2026-11-22 12:21:59.977265+00', '2026-11-22 12:21:59.979016+00', NULL, NULL, '2036-11-19 12:21:59.977265+00', NULL, '__svc.webhooks.deliver.dlq', 'standard', NULL, 20, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL),
	('6a1b09bf-75b9-4fba-824b-d4286953e462', '__svc.webhooks.deliver', 0, '{"event": "order.shipped", "target": "01a20334-a7dc-72aa-8819-ec2e8039a952", "eventId": "acme\u001f01a20334-c663-71d7-9391-adc567110e3d", "deliveryId": "6a1b09bf-75b9-4fba-824b-d4286953e462"}', 'created', 1, 0, 1, false, 43200, 86399, 60, '01a20334-a7dc-72aa-8819-ec2e8039a952', NULL, '01a20334-a7dc-72aa-8819-ec2e8039a952', NULL, '2026-11-22 12:22:00.040473+00', '2026-11-22 12:22:00.040621+00', NULL, NULL, '2036-11-19 12:22:00.040473+00', NULL, '__svc.webhooks.deliver.dlq', 'standard', NULL, 20, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL),
	('01a20334-ad53-7f67-8591-963d790bb91f', '__svc.webhooks.deliver', 0, '{"event": "order.created", "target": "01a20334-a7fe-7544-8b23-923fbae287b3", "eventId": "acme\u001ffirst", "deliveryId": "00cc0468-1504-4c11-9da1-3d714f16065e", "attemptsBefore": 2}', 'created', 1, 0, 1, false, 43200, 86399, 60, '01a20334-a7fe-7544-8b23-923fbae287b3', NULL, '01a20334-a7fe-7544-8b23-923fbae287b3', NULL, '2026-11-22 12:22:00.120768+00', '2026-11-22 12:22:00.120769+00', NULL, NULL, '2036-11-19 12:22:00.120768+00', NULL, '__svc.webhooks.deliver.dlq', 'standard', NULL, 20, true, false, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO svc_jobs.job_common VALUES
	('e6f6f913-301a-4e6e-9bea-4e1932328300', '__svc.sub/order.created', -1, '{"event": "order.created", "eventId": "01a20334-ad9a-7588-8ae3-c954fc0d3abb", "deliveryId": "e6f6f913-301a-4e6e-9bea-4e1932328300"}', 'failed', 1, 1, 1, false, 43200, 86399, 60, NULL, NULL, NULL, '01a20334-97bb-7078-a52a-aacede300006', '2026-11-22 12:21:54.704002+00', '2026-11-22 12:21:53.696233+00', '2026-11-22 12:21:54.715188+00', '2026-11-22 12:21:54.724957+00', '2036-11-19 12:21:53.69612+00', '{"message": "the handler fails"}', '__svc.sub/order.created.dlq', 'standard', NULL, 20, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL),
	('01a20334-b1a4-7121-a24d-e889dfdcbddd', '__svc.sub/order.created.dlq', -1, '{"event": "order.created", "eventId": "01a20334-ad9a-7588-8ae3-c954fc0d3abb", "deliveryId": "e6f6f913-301a-4e6e-9bea-4e1932328300"}', 'created', 0, 0, 0, false, NULL, 900, 604800, NULL, NULL, NULL, '01a20334-97bb-7078-a52a-aacede300006', '2026-11-22 12:21:54.724957+00', '2026-11-22 12:21:54.724957+00', NULL, NULL, '2086-11-07 12:21:54.724957+00', NULL, NULL, NULL, NULL, NULL, false, false, 0, '__svc.sub/order.created', 'e6f6f913-301a-4e6e-9bea-4e1932328300', '2026-11-22 12:21:53.696233+00', 1, '{"message": "the handler fails"}', 'e6f6f913-301a-4e6e-9bea-4e1932328300'),
	('33a2982b-c1fc-4e74-9165-612e8c39b9e3', '__svc.sub/order.created', 0, '{"event": "order.created", "eventId": "01a20334-c616-70d1-a82e-dfb34101d4d4", "deliveryId": "33a2982b-c1fc-4e74-9165-612e8c39b9e3"}', 'created', 1, 0, 1, false, 43200, 86399, 60, NULL, NULL, NULL, NULL, '2026-11-22 12:21:59.977265+00', '2026-11-22 12:21:59.979016+00', NULL, NULL, '2036-11-19 12:21:59.977265+00', NULL, '__svc.sub/order.created.dlq', 'standard', NULL, 20, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO svc_jobs.queue VALUES
	('__svc.sub/order.created', 'standard', 16, 5, true, 43200, 86399, 315360000, 60, '__svc.sub/order.created.dlq', false, 'job_common', 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, NULL, NULL, '{0}', 20, false, NULL, '2026-11-22 12:21:54.302189+00', '2026-11-22 12:21:54.319508+00', '2026-11-22 12:21:54.360986+00', '2026-11-22 12:21:51.625586+00', '2026-11-22 12:21:51.625586+00'),
	('__svc.sub/order.created.dlq', 'standard', 0, 0, false, NULL, 900, 1892160000, 604800, NULL, false, 'job_common', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, '{0}', NULL, false, NULL, '2026-11-22 12:21:54.302189+00', '2026-11-22 12:21:54.319508+00', '2026-11-22 12:21:54.360986+00', '2026-11-22 12:21:51.600652+00', '2026-11-22 12:21:51.600652+00'),
	('__svc.webhooks.deliver.dlq', 'standard', 0, 0, false, NULL, 900, 1892160000, 604800, NULL, false, 'job_common', 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, NULL, NULL, '{1}', NULL, false, NULL, '2026-11-22 12:21:54.302189+00', '2026-11-22 12:21:54.319508+00', '2026-11-22 12:21:54.360986+00', '2026-11-22 12:21:49.203288+00', '2026-11-22 12:21:49.203288+00'),
	('__svc.webhooks.deliver', 'standard', 16, 5, true, 43200, 86399, 315360000, 60, '__svc.webhooks.deliver.dlq', true, 'jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e', 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, NULL, NULL, '{0}', 20, false, NULL, '2026-11-22 12:21:54.377025+00', '2026-11-22 12:21:54.385023+00', '2026-11-22 12:21:54.40102+00', '2026-11-22 12:21:49.232787+00', '2026-11-22 12:21:49.232787+00');
INSERT INTO svc_jobs.version VALUES
	(43, NULL, '2026-11-22 12:21:48.093127+00', NULL, '2026-11-22 12:21:54.447262+00', NULL);
SELECT pg_catalog.setval('svc."__svc.job_moves_id_seq"', 2, true);
ALTER TABLE ONLY svc."__svc.audit"
    ADD CONSTRAINT "__svc.audit_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY svc."__svc.auth.api_keys"
    ADD CONSTRAINT "__svc.auth.api_keys_key_hash_key" UNIQUE (key_hash);
ALTER TABLE ONLY svc."__svc.auth.api_keys"
    ADD CONSTRAINT "__svc.auth.api_keys_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY svc."__svc.auth.epoch"
    ADD CONSTRAINT "__svc.auth.epoch_pkey" PRIMARY KEY (is_only);
ALTER TABLE ONLY svc."__svc.auth.failing_prefixes"
    ADD CONSTRAINT "__svc.auth.failing_prefixes_pkey" PRIMARY KEY (prefix);
ALTER TABLE ONLY svc."__svc.auth.key_notices"
    ADD CONSTRAINT "__svc.auth.key_notices_pkey" PRIMARY KEY (key_id, notice);
ALTER TABLE ONLY svc."__svc.auth.quotas"
    ADD CONSTRAINT "__svc.auth.quotas_pkey" PRIMARY KEY (subject, period);
ALTER TABLE ONLY svc."__svc.auth.usage"
    ADD CONSTRAINT "__svc.auth.usage_pkey" PRIMARY KEY (key_id, hour);
ALTER TABLE ONLY svc."__svc.auth.users"
    ADD CONSTRAINT "__svc.auth.users_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY svc."__svc.auth.windows"
    ADD CONSTRAINT "__svc.auth.windows_pkey" PRIMARY KEY (subject, per_seconds);
ALTER TABLE ONLY svc."__svc.console.portal_codes"
    ADD CONSTRAINT "__svc.console.portal_codes_pkey" PRIMARY KEY (code_hash);
ALTER TABLE ONLY svc."__svc.console.sessions"
    ADD CONSTRAINT "__svc.console.sessions_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY svc."__svc.console.sessions"
    ADD CONSTRAINT "__svc.console.sessions_token_hash_key" UNIQUE (token_hash);
ALTER TABLE ONLY svc."__svc.events"
    ADD CONSTRAINT "__svc.events_pkey" PRIMARY KEY (name, id);
ALTER TABLE ONLY svc."__svc.job_grants"
    ADD CONSTRAINT "__svc.job_grants_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY svc."__svc.job_groups"
    ADD CONSTRAINT "__svc.job_groups_pkey" PRIMARY KEY (queue, group_id);
ALTER TABLE ONLY svc."__svc.job_moves"
    ADD CONSTRAINT "__svc.job_moves_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY svc."__svc.kv"
    ADD CONSTRAINT "__svc.kv_pkey" PRIMARY KEY (key);
ALTER TABLE ONLY svc."__svc.migrations"
    ADD CONSTRAINT "__svc.migrations_pkey" PRIMARY KEY (owner, name);
ALTER TABLE ONLY svc."__svc.processes"
    ADD CONSTRAINT "__svc.processes_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY svc."__svc.recoveries"
    ADD CONSTRAINT "__svc.recoveries_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY svc."__svc.subscriptions"
    ADD CONSTRAINT "__svc.subscriptions_pkey" PRIMARY KEY (event_name, subscription);
ALTER TABLE ONLY svc."__svc.targets"
    ADD CONSTRAINT "__svc.targets_pkey" PRIMARY KEY (subscription, event_name, target);
ALTER TABLE ONLY svc."__svc.webhooks.deleted_webhooks"
    ADD CONSTRAINT "__svc.webhooks.deleted_webhooks_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY svc."__svc.webhooks.inbound_log"
    ADD CONSTRAINT "__svc.webhooks.inbound_log_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY svc."__svc.webhooks.missing_events"
    ADD CONSTRAINT "__svc.webhooks.missing_events_pkey" PRIMARY KEY (recovery_id, n);
ALTER TABLE ONLY svc."__svc.webhooks.registrations"
    ADD CONSTRAINT "__svc.webhooks.registrations_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY svc."__svc.webhooks.stats"
    ADD CONSTRAINT "__svc.webhooks.stats_pkey" PRIMARY KEY (period, at, webhook_id, event);
ALTER TABLE svc."__svc.auth.users"
    ADD CONSTRAINT one_email CHECK ((((tenant IS NULL) = (email IS NOT NULL)) AND ((tenant IS NULL) = (tenant_email IS NULL)))) NOT VALID;
ALTER TABLE ONLY svc_jobs.bam
    ADD CONSTRAINT bam_pkey PRIMARY KEY (id);
ALTER TABLE ONLY svc_jobs.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (name, id);
ALTER TABLE ONLY svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e
    ADD CONSTRAINT jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e_pkey PRIMARY KEY (name, id);
ALTER TABLE ONLY svc_jobs.job_common
    ADD CONSTRAINT job_common_pkey PRIMARY KEY (name, id);
ALTER TABLE ONLY svc_jobs.job_dependency
    ADD CONSTRAINT job_dependency_pkey PRIMARY KEY (child_name, child_id, parent_name, parent_id);
ALTER TABLE ONLY svc_jobs.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (name);
ALTER TABLE ONLY svc_jobs.queue_stats
    ADD CONSTRAINT queue_stats_pkey PRIMARY KEY (id, captured_on);
ALTER TABLE ONLY svc_jobs.queue_stats_20261122
    ADD CONSTRAINT queue_stats_20261122_pkey PRIMARY KEY (id, captured_on);
ALTER TABLE ONLY svc_jobs.queue_stats_20261123
    ADD CONSTRAINT queue_stats_20261123_pkey PRIMARY KEY (id, captured_on);
ALTER TABLE ONLY svc_jobs.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (name, key);
ALTER TABLE ONLY svc_jobs.subscription
    ADD CONSTRAINT subscription_pkey PRIMARY KEY (event, name);
ALTER TABLE ONLY svc_jobs.version
    ADD CONSTRAINT version_pkey PRIMARY KEY (version);
ALTER TABLE ONLY svc_jobs.warning
    ADD CONSTRAINT warning_pkey PRIMARY KEY (id);
CREATE INDEX "__svc.audit_actor_key_id_id_idx" ON svc."__svc.audit" USING btree (actor_key_id, id DESC) WHERE (actor_key_id IS NOT NULL);
CREATE INDEX "__svc.audit_actor_user_id_id_idx" ON svc."__svc.audit" USING btree (actor_user_id, id DESC) WHERE (actor_user_id IS NOT NULL);
CREATE INDEX "__svc.audit_target_id_id_idx" ON svc."__svc.audit" USING btree (target_id, id DESC);
CREATE INDEX "__svc.audit_tenant_id_idx" ON svc."__svc.audit" USING btree (tenant, id DESC);
CREATE INDEX "__svc.auth.api_keys_expires_at_idx" ON svc."__svc.auth.api_keys" USING btree (expires_at) WHERE ((expires_at IS NOT NULL) AND (revoked_at IS NULL));
CREATE INDEX "__svc.auth.api_keys_inserted_in_idx" ON svc."__svc.auth.api_keys" USING btree (inserted_in);
CREATE INDEX "__svc.auth.api_keys_key_prefix_id_idx" ON svc."__svc.auth.api_keys" USING btree (key_prefix, id DESC);
CREATE INDEX "__svc.auth.api_keys_tenant_id_idx" ON svc."__svc.auth.api_keys" USING btree (tenant, id DESC);
CREATE INDEX "__svc.auth.api_keys_user_id_id_idx" ON svc."__svc.auth.api_keys" USING btree (user_id, id DESC);
CREATE INDEX "__svc.auth.failing_prefixes_changed_in_idx" ON svc."__svc.auth.failing_prefixes" USING btree (changed_in);
CREATE INDEX "__svc.auth.failing_prefixes_expires_at_idx" ON svc."__svc.auth.failing_prefixes" USING btree (expires_at);
CREATE INDEX "__svc.auth.key_notices_published_at_idx" ON svc."__svc.auth.key_notices" USING btree (published_at);
CREATE INDEX "__svc.auth.usage_hour_idx" ON svc."__svc.auth.usage" USING btree (hour);
CREATE INDEX "__svc.auth.usage_tenant_hour_idx" ON svc."__svc.auth.usage" USING btree (tenant, hour);
CREATE UNIQUE INDEX "__svc.auth.users_lower_idx" ON svc."__svc.auth.users" USING btree (lower(email));
CREATE INDEX "__svc.auth.users_tenant_id_idx" ON svc."__svc.auth.users" USING btree (tenant, id DESC);
CREATE UNIQUE INDEX "__svc.auth.users_tenant_lower_idx" ON svc."__svc.auth.users" USING btree (tenant, lower(tenant_email)) WHERE (tenant IS NOT NULL);
CREATE INDEX "__svc.auth.windows_unused_after_idx" ON svc."__svc.auth.windows" USING btree (unused_after);
CREATE INDEX "__svc.console.portal_codes_expires_at_idx" ON svc."__svc.console.portal_codes" USING btree (expires_at);
CREATE INDEX "__svc.console.portal_codes_tenant_idx" ON svc."__svc.console.portal_codes" USING btree (tenant);
CREATE INDEX "__svc.console.sessions_expires_at_idx" ON svc."__svc.console.sessions" USING btree (expires_at);
CREATE INDEX "__svc.console.sessions_tenant_id_idx" ON svc."__svc.console.sessions" USING btree (tenant, id) WHERE (tenant IS NOT NULL);
CREATE INDEX "__svc.events_published_at_idx" ON svc."__svc.events" USING brin (published_at);
CREATE INDEX "__svc.job_grants_queue_group_id_begun_by_idx" ON svc."__svc.job_grants" USING btree (queue, group_id, begun_by);
CREATE INDEX "__svc.job_moves_queue_group_id_idx" ON svc."__svc.job_moves" USING btree (queue, group_id);
CREATE INDEX "__svc.kv_expires_at_idx" ON svc."__svc.kv" USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX "__svc.recoveries_queue_group_id_id_idx" ON svc."__svc.recoveries" USING btree (queue, group_id, id);
CREATE INDEX "__svc.recoveries_queue_next_at_idx" ON svc."__svc.recoveries" USING btree (queue, next_at) WHERE (finished_at IS NULL);
CREATE INDEX "__svc.subscriptions_subscription_idx" ON svc."__svc.subscriptions" USING btree (subscription);
CREATE INDEX "__svc.targets_target_idx" ON svc."__svc.targets" USING btree (target);
CREATE INDEX "__svc.webhooks.delivery_log_delivery_id_idx" ON ONLY svc."__svc.webhooks.delivery_log" USING btree (delivery_id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-22_delivery_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-22" USING btree (delivery_id);
CREATE INDEX svc_delivery_log_event ON ONLY svc."__svc.webhooks.delivery_log" USING btree (event, id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-22_event_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-22" USING btree (event, id);
CREATE INDEX svc_delivery_log_time ON ONLY svc."__svc.webhooks.delivery_log" USING btree (id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-22_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-22" USING btree (id);
CREATE INDEX svc_delivery_log_status_code ON ONLY svc."__svc.webhooks.delivery_log" USING btree (status_code, id) WHERE (status_code <> 200);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-22_status_code_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-22" USING btree (status_code, id) WHERE (status_code <> 200);
CREATE INDEX svc_delivery_log_status ON ONLY svc."__svc.webhooks.delivery_log" USING btree (status, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-22_status_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-22" USING btree (status, id) WHERE (status <> 'delivered'::text);
CREATE INDEX svc_delivery_log_tenant ON ONLY svc."__svc.webhooks.delivery_log" USING btree (tenant, id) WHERE (tenant IS NOT NULL);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-22_tenant_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-22" USING btree (tenant, id) WHERE (tenant IS NOT NULL);
CREATE INDEX "__svc.webhooks.delivery_log_webhook_id_id_idx" ON ONLY svc."__svc.webhooks.delivery_log" USING btree (webhook_id, id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-22_webhook_id_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-22" USING btree (webhook_id, id);
CREATE INDEX "__svc.webhooks.delivery_log_webhook_id_id_idx1" ON ONLY svc."__svc.webhooks.delivery_log" USING btree (webhook_id, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-22_webhook_id_id_idx1" ON svc."__svc.webhooks.delivery_log.2026-11-22" USING btree (webhook_id, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-23_delivery_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-23" USING btree (delivery_id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-23_event_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-23" USING btree (event, id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-23_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-23" USING btree (id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-23_status_code_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-23" USING btree (status_code, id) WHERE (status_code <> 200);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-23_status_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-23" USING btree (status, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-23_tenant_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-23" USING btree (tenant, id) WHERE (tenant IS NOT NULL);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-23_webhook_id_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-23" USING btree (webhook_id, id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-23_webhook_id_id_idx1" ON svc."__svc.webhooks.delivery_log.2026-11-23" USING btree (webhook_id, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-24_delivery_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-24" USING btree (delivery_id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-24_event_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-24" USING btree (event, id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-24_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-24" USING btree (id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-24_status_code_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-24" USING btree (status_code, id) WHERE (status_code <> 200);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-24_status_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-24" USING btree (status, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-24_tenant_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-24" USING btree (tenant, id) WHERE (tenant IS NOT NULL);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-24_webhook_id_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-24" USING btree (webhook_id, id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-24_webhook_id_id_idx1" ON svc."__svc.webhooks.delivery_log.2026-11-24" USING btree (webhook_id, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-25_delivery_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-25" USING btree (delivery_id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-25_event_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-25" USING btree (event, id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-25_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-25" USING btree (id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-25_status_code_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-25" USING btree (status_code, id) WHERE (status_code <> 200);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-25_status_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-25" USING btree (status, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-25_tenant_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-25" USING btree (tenant, id) WHERE (tenant IS NOT NULL);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-25_webhook_id_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-25" USING btree (webhook_id, id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-25_webhook_id_id_idx1" ON svc."__svc.webhooks.delivery_log.2026-11-25" USING btree (webhook_id, id) WHERE (status <> 'delivered'::text);
CREATE INDEX svc_delivery_log_event_id ON ONLY svc."__svc.webhooks.delivery_log" USING btree (svc."__svc.webhooks.published_id"(event_id), id) WHERE (event_id IS NOT NULL);
CREATE INDEX "__svc.webhooks.delivery_log.2___svc.webhooks.published_id__idx1" ON svc."__svc.webhooks.delivery_log.2026-11-23" USING btree (svc."__svc.webhooks.published_id"(event_id), id) WHERE (event_id IS NOT NULL);
CREATE INDEX "__svc.webhooks.delivery_log.2___svc.webhooks.published_id__idx2" ON svc."__svc.webhooks.delivery_log.2026-11-24" USING btree (svc."__svc.webhooks.published_id"(event_id), id) WHERE (event_id IS NOT NULL);
CREATE INDEX "__svc.webhooks.delivery_log.2___svc.webhooks.published_id__idx3" ON svc."__svc.webhooks.delivery_log.2026-11-25" USING btree (svc."__svc.webhooks.published_id"(event_id), id) WHERE (event_id IS NOT NULL);
CREATE INDEX "__svc.webhooks.delivery_log.2___svc.webhooks.published_id_i_idx" ON svc."__svc.webhooks.delivery_log.2026-11-22" USING btree (svc."__svc.webhooks.published_id"(event_id), id) WHERE (event_id IS NOT NULL);
CREATE INDEX "__svc.webhooks.delivery_log.rest.event" ON svc."__svc.webhooks.delivery_log.rest" USING btree (event, id);
CREATE INDEX "__svc.webhooks.delivery_log.rest.event_id" ON svc."__svc.webhooks.delivery_log.rest" USING btree (svc."__svc.webhooks.published_id"(event_id), id) WHERE (event_id IS NOT NULL);
CREATE INDEX "__svc.webhooks.delivery_log.rest.status" ON svc."__svc.webhooks.delivery_log.rest" USING btree (status, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.delivery_log.rest.status_code" ON svc."__svc.webhooks.delivery_log.rest" USING btree (status_code, id) WHERE (status_code <> 200);
CREATE INDEX "__svc.webhooks.delivery_log.rest.tenant" ON svc."__svc.webhooks.delivery_log.rest" USING btree (tenant, id) WHERE (tenant IS NOT NULL);
CREATE INDEX "__svc.webhooks.delivery_log.rest.time" ON svc."__svc.webhooks.delivery_log.rest" USING btree (id);
CREATE INDEX "__svc.webhooks.delivery_log.rest_delivery_id_idx" ON svc."__svc.webhooks.delivery_log.rest" USING btree (delivery_id);
CREATE INDEX "__svc.webhooks.delivery_log.rest_webhook_id_id_idx" ON svc."__svc.webhooks.delivery_log.rest" USING btree (webhook_id, id);
CREATE INDEX "__svc.webhooks.delivery_log.rest_webhook_id_id_idx1" ON svc."__svc.webhooks.delivery_log.rest" USING btree (webhook_id, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.inbound_log_outcome_id_idx" ON svc."__svc.webhooks.inbound_log" USING btree (outcome, id) WHERE (outcome <> 'accepted'::text);
CREATE INDEX "__svc.webhooks.inbound_log_source_id_idx" ON svc."__svc.webhooks.inbound_log" USING btree (source, id);
CREATE INDEX "__svc.webhooks.inbound_log_tenant_id_idx" ON svc."__svc.webhooks.inbound_log" USING btree (tenant, id) WHERE (tenant IS NOT NULL);
CREATE INDEX "__svc.webhooks.registrations_tenant_id_idx" ON svc."__svc.webhooks.registrations" USING btree (tenant, id) WHERE (tenant IS NOT NULL);
CREATE INDEX "__svc.webhooks.stats_tenant_period_at_idx" ON svc."__svc.webhooks.stats" USING btree (tenant, period, at) WHERE (tenant IS NOT NULL);
CREATE INDEX "__svc.webhooks.stats_webhook_id_period_at_idx" ON svc."__svc.webhooks.stats" USING btree (webhook_id, period, at);
CREATE INDEX failing_webhooks ON svc."__svc.webhooks.registrations" USING btree (id) WHERE ((failing_since IS NOT NULL) OR (disabled_reason = 'failing'::text));
CREATE INDEX targets_by_tenant ON svc."__svc.targets" USING btree (subscription, event_name, tenant, target) WHERE (filter IS NULL);
CREATE INDEX targets_with_filter ON svc."__svc.targets" USING btree (event_name, tenant) WHERE (filter IS NOT NULL);
CREATE INDEX jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e_i11 ON svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e USING btree (name, priority DESC, created_on, start_after) WHERE ((state < 'active'::svc_jobs.job_state) AND (NOT blocked));
CREATE INDEX jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e_i12 ON svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e USING btree (source_root_id) WHERE (source_root_id IS NOT NULL);
CREATE UNIQUE INDEX jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e_i4 ON svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e USING btree (name, singleton_on, COALESCE(singleton_key, ''::text)) WHERE ((state <> 'cancelled'::svc_jobs.job_state) AND (singleton_on IS NOT NULL));
CREATE INDEX jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e_i7 ON svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e USING btree (name, group_id) WHERE ((state = 'active'::svc_jobs.job_state) AND (group_id IS NOT NULL));
CREATE INDEX jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e_i9 ON svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e USING btree (name, id) WHERE (blocking AND (state = 'completed'::svc_jobs.job_state));
CREATE UNIQUE INDEX job_common_i1 ON svc_jobs.job_common USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state = 'created'::svc_jobs.job_state) AND (policy = 'short'::text));
CREATE INDEX job_common_i10 ON svc_jobs.job_common USING btree (name, singleton_key, state DESC, created_on, id) INCLUDE (start_after) WHERE ((state < 'active'::svc_jobs.job_state) AND (NOT blocked) AND (policy = 'key_strict_fifo'::text));
CREATE INDEX job_common_i11 ON svc_jobs.job_common USING btree (name, priority DESC, created_on, start_after) WHERE ((state < 'active'::svc_jobs.job_state) AND (NOT blocked));
CREATE INDEX job_common_i12 ON svc_jobs.job_common USING btree (source_root_id) WHERE (source_root_id IS NOT NULL);
CREATE UNIQUE INDEX job_common_i2 ON svc_jobs.job_common USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state = 'active'::svc_jobs.job_state) AND (policy = 'singleton'::text));
CREATE UNIQUE INDEX job_common_i3 ON svc_jobs.job_common USING btree (name, state, COALESCE(singleton_key, ''::text)) WHERE ((state <= 'active'::svc_jobs.job_state) AND (policy = 'stately'::text));
CREATE UNIQUE INDEX job_common_i4 ON svc_jobs.job_common USING btree (name, singleton_on, COALESCE(singleton_key, ''::text)) WHERE ((state <> 'cancelled'::svc_jobs.job_state) AND (singleton_on IS NOT NULL));
CREATE UNIQUE INDEX job_common_i6 ON svc_jobs.job_common USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state <= 'active'::svc_jobs.job_state) AND (policy = 'exclusive'::text));
CREATE INDEX job_common_i7 ON svc_jobs.job_common USING btree (name, group_id) WHERE ((state = 'active'::svc_jobs.job_state) AND (group_id IS NOT NULL));
CREATE UNIQUE INDEX job_common_i8 ON svc_jobs.job_common USING btree (name, singleton_key) WHERE ((state = ANY (ARRAY['active'::svc_jobs.job_state, 'retry'::svc_jobs.job_state, 'failed'::svc_jobs.job_state])) AND (policy = 'key_strict_fifo'::text));
CREATE INDEX job_common_i9 ON svc_jobs.job_common USING btree (name, id) WHERE (blocking AND (state = 'completed'::svc_jobs.job_state));
CREATE INDEX job_dep_parent_idx ON svc_jobs.job_dependency USING btree (parent_name, parent_id);
CREATE INDEX queue_stats_i1 ON ONLY svc_jobs.queue_stats USING btree (name, captured_on DESC) INCLUDE (deferred_count, queued_count, ready_count, active_count, failed_count, total_count);
CREATE INDEX queue_stats_20261122_name_captured_on_deferred_count_queued_idx ON svc_jobs.queue_stats_20261122 USING btree (name, captured_on DESC) INCLUDE (deferred_count, queued_count, ready_count, active_count, failed_count, total_count);
CREATE INDEX queue_stats_20261123_name_captured_on_deferred_count_queued_idx ON svc_jobs.queue_stats_20261123 USING btree (name, captured_on DESC) INCLUDE (deferred_count, queued_count, ready_count, active_count, failed_count, total_count);
CREATE INDEX svc_dead_letters ON svc_jobs.job_common USING btree (name, singleton_key, id) WHERE (name ~~ '%.dlq'::text);
CREATE INDEX svc_dead_letters_delivery_id ON svc_jobs.job_common USING btree (name, ((data ->> 'deliveryId'::text))) WHERE (name ~~ '%.dlq'::text);
CREATE INDEX svc_dead_letters_event ON svc_jobs.job_common USING btree (name, ((data ->> 'event'::text)), id) WHERE (name ~~ '%.dlq'::text);
CREATE INDEX svc_dead_letters_event_id ON svc_jobs.job_common USING btree (name, substr((data ->> 'eventId'::text), (strpos((data ->> 'eventId'::text), ''::text) + 1)), id) WHERE (name ~~ '%.dlq'::text);
CREATE INDEX svc_dead_letters_status_code ON svc_jobs.job_common USING btree (name, ((source_output ->> 'statusCode'::text)), id) WHERE (name ~~ '%.dlq'::text);
CREATE INDEX svc_ordered_jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0d ON svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e USING btree (singleton_key, created_on, id) WHERE (blocked AND (state < 'active'::svc_jobs.job_state));
CREATE INDEX svc_parked_jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0df ON svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e USING btree (singleton_key, start_after) WHERE (blocked AND (state < 'active'::svc_jobs.job_state));
CREATE INDEX warning_i1 ON svc_jobs.warning USING btree (created_on DESC);
ALTER INDEX svc."__svc.webhooks.delivery_log_delivery_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-22_delivery_id_idx";
ALTER INDEX svc.svc_delivery_log_event ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-22_event_id_idx";
ALTER INDEX svc.svc_delivery_log_time ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-22_id_idx";
ALTER INDEX svc.svc_delivery_log_status_code ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-22_status_code_id_idx";
ALTER INDEX svc.svc_delivery_log_status ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-22_status_id_idx";
ALTER INDEX svc.svc_delivery_log_tenant ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-22_tenant_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-22_webhook_id_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx1" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-22_webhook_id_id_idx1";
ALTER INDEX svc."__svc.webhooks.delivery_log_delivery_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-23_delivery_id_idx";
ALTER INDEX svc.svc_delivery_log_event ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-23_event_id_idx";
ALTER INDEX svc.svc_delivery_log_time ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-23_id_idx";
ALTER INDEX svc.svc_delivery_log_status_code ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-23_status_code_id_idx";
ALTER INDEX svc.svc_delivery_log_status ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-23_status_id_idx";
ALTER INDEX svc.svc_delivery_log_tenant ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-23_tenant_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-23_webhook_id_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx1" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-23_webhook_id_id_idx1";
ALTER INDEX svc."__svc.webhooks.delivery_log_delivery_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-24_delivery_id_idx";
ALTER INDEX svc.svc_delivery_log_event ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-24_event_id_idx";
ALTER INDEX svc.svc_delivery_log_time ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-24_id_idx";
ALTER INDEX svc.svc_delivery_log_status_code ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-24_status_code_id_idx";
ALTER INDEX svc.svc_delivery_log_status ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-24_status_id_idx";
ALTER INDEX svc.svc_delivery_log_tenant ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-24_tenant_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-24_webhook_id_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx1" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-24_webhook_id_id_idx1";
ALTER INDEX svc."__svc.webhooks.delivery_log_delivery_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-25_delivery_id_idx";
ALTER INDEX svc.svc_delivery_log_event ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-25_event_id_idx";
ALTER INDEX svc.svc_delivery_log_time ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-25_id_idx";
ALTER INDEX svc.svc_delivery_log_status_code ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-25_status_code_id_idx";
ALTER INDEX svc.svc_delivery_log_status ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-25_status_id_idx";
ALTER INDEX svc.svc_delivery_log_tenant ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-25_tenant_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-25_webhook_id_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx1" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-25_webhook_id_id_idx1";
ALTER INDEX svc.svc_delivery_log_event_id ATTACH PARTITION svc."__svc.webhooks.delivery_log.2___svc.webhooks.published_id__idx1";
ALTER INDEX svc.svc_delivery_log_event_id ATTACH PARTITION svc."__svc.webhooks.delivery_log.2___svc.webhooks.published_id__idx2";
ALTER INDEX svc.svc_delivery_log_event_id ATTACH PARTITION svc."__svc.webhooks.delivery_log.2___svc.webhooks.published_id__idx3";
ALTER INDEX svc.svc_delivery_log_event_id ATTACH PARTITION svc."__svc.webhooks.delivery_log.2___svc.webhooks.published_id_i_idx";
ALTER INDEX svc.svc_delivery_log_event ATTACH PARTITION svc."__svc.webhooks.delivery_log.rest.event";
ALTER INDEX svc.svc_delivery_log_event_id ATTACH PARTITION svc."__svc.webhooks.delivery_log.rest.event_id";
ALTER INDEX svc.svc_delivery_log_status ATTACH PARTITION svc."__svc.webhooks.delivery_log.rest.status";
ALTER INDEX svc.svc_delivery_log_status_code ATTACH PARTITION svc."__svc.webhooks.delivery_log.rest.status_code";
ALTER INDEX svc.svc_delivery_log_tenant ATTACH PARTITION svc."__svc.webhooks.delivery_log.rest.tenant";
ALTER INDEX svc.svc_delivery_log_time ATTACH PARTITION svc."__svc.webhooks.delivery_log.rest.time";
ALTER INDEX svc."__svc.webhooks.delivery_log_delivery_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.rest_delivery_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.rest_webhook_id_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx1" ATTACH PARTITION svc."__svc.webhooks.delivery_log.rest_webhook_id_id_idx1";
ALTER INDEX svc_jobs.job_pkey ATTACH PARTITION svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e_pkey;
ALTER INDEX svc_jobs.job_pkey ATTACH PARTITION svc_jobs.job_common_pkey;
ALTER INDEX svc_jobs.queue_stats_i1 ATTACH PARTITION svc_jobs.queue_stats_20261122_name_captured_on_deferred_count_queued_idx;
ALTER INDEX svc_jobs.queue_stats_pkey ATTACH PARTITION svc_jobs.queue_stats_20261122_pkey;
ALTER INDEX svc_jobs.queue_stats_i1 ATTACH PARTITION svc_jobs.queue_stats_20261123_name_captured_on_deferred_count_queued_idx;
ALTER INDEX svc_jobs.queue_stats_pkey ATTACH PARTITION svc_jobs.queue_stats_20261123_pkey;
CREATE TRIGGER mark_inserted BEFORE INSERT OR UPDATE OF key_hash ON svc."__svc.auth.api_keys" FOR EACH ROW EXECUTE FUNCTION svc."__svc.auth.mark_new_key"();
CREATE TRIGGER take_tenant BEFORE INSERT ON svc."__svc.auth.api_keys" FOR EACH ROW EXECUTE FUNCTION svc."__svc.auth.tenant_of_key"();
CREATE TRIGGER tell_deleted AFTER DELETE ON svc."__svc.auth.api_keys" REFERENCING OLD TABLE AS was FOR EACH STATEMENT EXECUTE FUNCTION svc."__svc.auth.tell_changed_keys"();
CREATE TRIGGER tell_updated AFTER UPDATE ON svc."__svc.auth.api_keys" REFERENCING OLD TABLE AS was NEW TABLE AS now FOR EACH STATEMENT EXECUTE FUNCTION svc."__svc.auth.tell_changed_keys"();
CREATE TRIGGER svc_dead_letter_id BEFORE INSERT ON svc_jobs.job_common FOR EACH ROW WHEN ((new.name ~~ '%.dlq'::text)) EXECUTE FUNCTION svc."__svc.dead_letter_id"();
ALTER TABLE ONLY svc."__svc.webhooks.missing_events"
    ADD CONSTRAINT "__svc.webhooks.missing_events_recovery_id_fkey" FOREIGN KEY (recovery_id) REFERENCES svc."__svc.recoveries"(id) ON DELETE CASCADE;
ALTER TABLE ONLY svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e
    ADD CONSTRAINT dlq_fkey FOREIGN KEY (dead_letter) REFERENCES svc_jobs.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY svc_jobs.job_common
    ADD CONSTRAINT dlq_fkey FOREIGN KEY (dead_letter) REFERENCES svc_jobs.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e
    ADD CONSTRAINT q_fkey FOREIGN KEY (name) REFERENCES svc_jobs.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY svc_jobs.job_common
    ADD CONSTRAINT q_fkey FOREIGN KEY (name) REFERENCES svc_jobs.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY svc_jobs.queue
    ADD CONSTRAINT queue_dead_letter_fkey FOREIGN KEY (dead_letter) REFERENCES svc_jobs.queue(name);
ALTER TABLE ONLY svc_jobs.schedule
    ADD CONSTRAINT schedule_name_fkey FOREIGN KEY (name) REFERENCES svc_jobs.queue(name) ON DELETE CASCADE;
ALTER TABLE ONLY svc_jobs.subscription
    ADD CONSTRAINT subscription_name_fkey FOREIGN KEY (name) REFERENCES svc_jobs.queue(name) ON DELETE CASCADE;