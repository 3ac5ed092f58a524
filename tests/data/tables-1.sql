-- The tables of commit 822f071 with rows in them, as pg_dump of Postgres 15 wrote them: a host with all
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
  insert into svc."__svc.auth.quotas" values (whose, quota_period, '-infinity', 0)
      on conflict do nothing;
  select * into q from svc."__svc.auth.quotas" as r
   where r.subject = whose and r.period = quota_period for update;
  now_at := coalesce(to_timestamp(at_ms / 1000), clock_timestamp());
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
CREATE FUNCTION svc."__svc.publish"(event_names text[], event_ids text[], payloads text[], tenants text[], deduplication_keys text[], deduplication_seconds double precision[], matched_events integer[], matched_subscriptions text[], matched_targets uuid[], offered_queues text[], offered_slots integer[], full_groups text[], owner text, retry_limit integer, retry_delay integer, retry_backoff boolean, retry_delay_max integer) RETURNS text
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
    insert into svc."__svc.events" (name, id, payload, tenant)
    select name, id, payload, tenant
      from unnest(event_names, event_ids, payloads, tenants) with ordinality
             as given (name, id, payload, tenant, n)
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
           -- Jobs of a group whose circuit is open wait apart from the others from the start.
           job_group.is_open is true as is_parked,
           job_group.is_open is null and recipient.group_id <> all(full_groups) is not false
             and row_number() over () <= coalesce(
                   offered_slots[array_position(offered_queues, recipient.queue)], 0) as is_claimed
      from recipient
      left join lateral (
        -- The lock keeps the row: without it nobody would look for the group's parked jobs.
        select true as is_open from svc."__svc.job_groups" as known
         where known.queue = recipient.queue and known.group_id = recipient.group_id
           and known.circuit_open
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
           now(), now(), now() + queue.retention_seconds * interval '1 second',
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
           'queues', coalesce(json_agg(distinct queue) filter (where not is_claimed), '[]'),
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
    actor_user_id uuid,
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
CREATE TABLE svc."__svc.events" (
    name text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    payload text NOT NULL,
    published_at timestamp with time zone DEFAULT now() NOT NULL,
    keep_until timestamp with time zone,
    tenant text COLLATE pg_catalog."C"
);
CREATE TABLE svc."__svc.job_groups" (
    queue text NOT NULL COLLATE pg_catalog."C",
    group_id text NOT NULL COLLATE pg_catalog."C",
    held boolean DEFAULT false NOT NULL,
    circuit_open boolean DEFAULT false NOT NULL,
    parked_at timestamp with time zone DEFAULT now() NOT NULL
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
    tenant text COLLATE pg_catalog."C"
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
	('01a20333-94a6-7213-87f9-ffcec8915b33', NULL, 'process', NULL, NULL, 'user.create', 'user', '01a20333-949c-7286-b313-d5a64fbcd4d8', '{"name": {"to": "Ada", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "ada@example.com", "from": null}}', NULL, NULL),
	('01a20333-94bc-7319-8638-3acbf1136d33', 'acme', 'process', NULL, NULL, 'user.create', 'user', '01a20333-94b5-7633-a5c8-1c8a95d92948', '{"name": {"to": "Bob", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "bob@acme.example", "from": null}, "tenant": {"to": "acme", "from": null}}', NULL, NULL),
	('01a20333-94e2-768a-a07d-cebe087b1aaf', NULL, 'process', NULL, NULL, 'key.create', 'key', '01a20333-94da-7173-8e35-b71d9175df0d', '{"key": {"to": "***", "from": null}, "label": {"to": "CI", "from": null}, "scopes": {"to": ["admin"], "from": null}, "userId": {"to": "01a20333-949c-7286-b313-d5a64fbcd4d8", "from": null}, "enabled": {"to": true, "from": null}}', NULL, NULL),
	('01a20333-9528-7038-8398-c947be942106', 'acme', 'process', NULL, NULL, 'key.create', 'key', '01a20333-951f-752e-9d1d-44e342100092', '{"key": {"to": "***", "from": null}, "quota": {"to": {"limit": 1000, "period": "month"}, "from": null}, "limits": {"to": [{"limit": 100, "perSeconds": 60}], "from": null}, "scopes": {"to": ["read"], "from": null}, "userId": {"to": "01a20333-94b5-7633-a5c8-1c8a95d92948", "from": null}, "enabled": {"to": true, "from": null}, "metadata": {"to": {"team": "x"}, "from": null}, "expiresAt": {"to": "2026-12-12T12:20:41.877Z", "from": null}}', NULL, NULL),
	('01a20333-954f-700a-8cf0-58e57f00a464', 'acme', 'process', NULL, NULL, 'key.create', 'key', '01a20333-9540-7631-bdf0-07e0e4e9362f', '{"key": {"to": "***", "from": null}, "scopes": {"to": ["read"], "from": null}, "userId": {"to": "01a20333-94b5-7633-a5c8-1c8a95d92948", "from": null}, "enabled": {"to": true, "from": null}}', NULL, NULL),
	('01a20333-95af-7681-a158-1aea42d80c76', 'acme', 'process', NULL, NULL, 'key.revoke', 'key', '01a20333-9540-7631-bdf0-07e0e4e9362f', '{"revoked": {"to": true, "from": false}}', NULL, NULL),
	('01a20333-971d-748d-8a2c-4276ed5b7237', NULL, 'process', NULL, NULL, 'webhook.create', 'webhook', '01a20333-96f7-7510-a781-61a4a41d871b', '{"url": {"to": "http://127.0.0.1:43969/ok", "from": null}, "active": {"to": true, "from": null}, "events": {"to": ["*"], "from": null}, "secret": {"to": "***", "from": null}, "ordered": {"to": false, "from": null}}', NULL, NULL),
	('01a20333-9739-70c8-a983-b268ad8d5018', 'acme', 'process', NULL, NULL, 'webhook.create', 'webhook', '01a20333-9725-76bf-a72f-0fa64eff5c9e', '{"url": {"to": "http://127.0.0.1:43969/fails", "from": null}, "active": {"to": true, "from": null}, "events": {"to": ["order.created"], "from": null}, "secret": {"to": "***", "from": null}, "tenant": {"to": "acme", "from": null}, "headers": {"to": "***", "from": null}, "ordered": {"to": false, "from": null}, "description": {"to": "fails", "from": null}}', NULL, NULL),
	('01a20333-9749-71cc-9b3a-d0af73106831', NULL, 'process', NULL, NULL, 'webhook.create', 'webhook', '01a20333-9742-76b8-b4da-3bc6f6bf736b', '{"url": {"to": "http://127.0.0.1:43969/ok", "from": null}, "active": {"to": true, "from": null}, "events": {"to": ["order.created"], "from": null}, "filter": {"to": {"payload": {"total": {"$gt": 1}}}, "from": null}, "secret": {"to": "***", "from": null}, "ordered": {"to": false, "from": null}}', NULL, NULL),
	('01a20333-a246-70f3-97cc-c60edf7dbc77', NULL, 'key', '01a20333-94da-7173-8e35-b71d9175df0d', '01a20333-949c-7286-b313-d5a64fbcd4d8', 'webhook.update', 'webhook', '01a20333-9742-76b8-b4da-3bc6f6bf736b', '{"active": {"to": false, "from": true}}', 'req-8', '127.0.0.1');
INSERT INTO svc."__svc.auth.api_keys" VALUES
	('01a20333-9540-7631-bdf0-07e0e4e9362f', '01a20333-94b5-7633-a5c8-1c8a95d92948', '991463b78f5e79af3d5d7e3a0c60077d1abc99c2f71a488c10fde4c75f619855', 'svc_BRbN', NULL, '{read}', '2026-11-22 12:20:41.919246+00', NULL, '2026-11-22 12:20:42.018043+00', NULL, '767', 'acme', true, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	('01a20333-94da-7173-8e35-b71d9175df0d', '01a20333-949c-7286-b313-d5a64fbcd4d8', 'f422ab63e20014dad291860bc05f464ac9dd0bbc30aba6525d7afe6e47d19e81', 'svc_U43H', 'CI', '{admin}', '2026-11-22 12:20:41.809034+00', NULL, NULL, '2026-11-22 12:20:42.17+00', '765', NULL, true, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	('01a20333-951f-752e-9d1d-44e342100092', '01a20333-94b5-7633-a5c8-1c8a95d92948', 'ec942dd130e040f20a5098d3758d22a6c4481c88a717fcd17610c53379a13119', 'svc_VaFS', NULL, '{read}', '2026-11-22 12:20:41.879853+00', '2026-12-12 12:20:41.877+00', NULL, '2026-11-22 12:20:42.231+00', '766', 'acme', true, '{"team": "x"}', NULL, NULL, NULL, '[{"limit": 100, "perSeconds": 60}]', '{"limit": 1000, "period": "month"}', NULL);
INSERT INTO svc."__svc.auth.epoch" VALUES
	(true, 1, '{991463b78f5e79af3d5d7e3a0c60077d1abc99c2f71a488c10fde4c75f619855}');
INSERT INTO svc."__svc.auth.failing_prefixes" VALUES
	('svc_VaFS', false, '2026-11-22 12:21:42.342977+00', '773');
INSERT INTO svc."__svc.auth.key_notices" VALUES
	('01a20333-951f-752e-9d1d-44e342100092', 'expiring:30', '2026-11-22 12:23:06.605034+00');
INSERT INTO svc."__svc.auth.quotas" VALUES
	('key:01a20333-951f-752e-9d1d-44e342100092', 'month', '2026-11-01 00:00:00+00', 1);
INSERT INTO svc."__svc.auth.usage" VALUES
	('01a20333-94da-7173-8e35-b71d9175df0d', '2026-11-22 12:00:00+00', NULL, 2, 0, 0, 0, 0),
	('01a20333-951f-752e-9d1d-44e342100092', '2026-11-22 12:00:00+00', 'acme', 1, 0, 0, 0, 0);
INSERT INTO svc."__svc.auth.users" VALUES
	('01a20333-949c-7286-b313-d5a64fbcd4d8', 'ada@example.com', 'Ada', 'user', '2026-11-22 12:20:41.755847+00', NULL, NULL),
	('01a20333-94b5-7633-a5c8-1c8a95d92948', NULL, 'Bob', 'user', '2026-11-22 12:20:41.779076+00', 'acme', 'bob@acme.example');
INSERT INTO svc."__svc.auth.windows" VALUES
	('key:01a20333-951f-752e-9d1d-44e342100092', 60, '{1795350042298.081}', '{1}', '{}', '{}', '{}', '2026-11-22 14:00:00+00');
INSERT INTO svc."__svc.events" VALUES
	('svc.key.created', '01a20333-94f0-76f8-9dc6-f00bfe4abc85', '{"keyId":"01a20333-94da-7173-8e35-b71d9175df0d","userId":"01a20333-949c-7286-b313-d5a64fbcd4d8","tenant":null,"keyPrefix":"svc_U43H","label":"CI","expiresAt":null,"lastUsedAt":null}', '2026-11-22 12:20:41.809034+00', NULL, NULL),
	('svc.key.created', 'acme01a20333-9532-74f4-a39c-00c4750a4720', '{"keyId":"01a20333-951f-752e-9d1d-44e342100092","userId":"01a20333-94b5-7633-a5c8-1c8a95d92948","tenant":"acme","keyPrefix":"svc_VaFS","label":null,"expiresAt":"2026-12-12T12:20:41.877Z","lastUsedAt":null}', '2026-11-22 12:20:41.879853+00', NULL, 'acme'),
	('svc.key.created', 'acme01a20333-9559-706a-87e0-3b9b4b5883ea', '{"keyId":"01a20333-9540-7631-bdf0-07e0e4e9362f","userId":"01a20333-94b5-7633-a5c8-1c8a95d92948","tenant":"acme","keyPrefix":"svc_BRbN","label":null,"expiresAt":null,"lastUsedAt":null}', '2026-11-22 12:20:41.919246+00', NULL, 'acme'),
	('svc.key.revoked', 'acme01a20333-95b9-70d5-8703-277050a05f2a', '{"keyId":"01a20333-9540-7631-bdf0-07e0e4e9362f","userId":"01a20333-94b5-7633-a5c8-1c8a95d92948","tenant":"acme","keyPrefix":"svc_BRbN","label":null,"expiresAt":null,"lastUsedAt":null}', '2026-11-22 12:20:42.018043+00', NULL, 'acme'),
	('order.created', 'acmefirst', '{"id":1,"total":5}', '2026-11-22 12:20:42.485028+00', NULL, 'acme'),
	('order.created', '01a20333-9ce1-751d-a16a-f73640e97b76', '{"id":2,"total":5,"fail":true}', '2026-11-22 12:20:43.884584+00', NULL, NULL),
	('order.shipped', '01a20333-a1b0-70c9-80e5-390d0d2019b8', '{"order":3}', '2026-11-22 12:20:45.117041+00', NULL, NULL),
	('order.created', '01a20333-b456-7079-938c-03905e1e335e', '{"id":4,"total":9}', '2026-11-22 12:20:49.890387+00', NULL, NULL),
	('order.shipped', 'acme01a20333-b47d-759a-b4b8-cd8128497c47', '{"id":5}', '2026-11-22 12:20:49.924+00', NULL, 'acme');
INSERT INTO svc."__svc.job_groups" VALUES
	('__svc.webhooks.deliver', '01a20333-9742-76b8-b4da-3bc6f6bf736b', true, false, '2026-11-22 12:20:45.217038+00');
INSERT INTO svc."__svc.job_moves" OVERRIDING SYSTEM VALUE VALUES
	(1, '__svc.webhooks.deliver', '00000000-0000-4000-8000-000000000001', 'discard', NULL, '2026-11-22 12:23:06.598258+00');
INSERT INTO svc."__svc.kv" VALUES
	('__svc.auth.failures/svc_VaFS', '{"failures": [1795350042.310269, 1795350042.318771, 1795350042.342977]}', '2026-11-22 12:21:42.342977+00'),
	('dump', '"kept"', NULL);
INSERT INTO svc."__svc.migrations" VALUES
	('@svc/core', '001-core.sql', '2026-11-22 12:20:24.110541+00'),
	('@svc/core', '002-retention.sql', '2026-11-22 12:20:24.248851+00'),
	('@svc/core', '003-processes.sql', '2026-11-22 12:20:24.258134+00'),
	('@svc/core', '004-job-groups.sql', '2026-11-22 12:20:24.2676+00'),
	('@svc/core', '005-tenants.sql', '2026-11-22 12:20:24.27811+00'),
	('@svc/core', '006-process-locks.sql', '2026-11-22 12:20:24.284149+00'),
	('@svc/core', '007-publish.sql', '2026-11-22 12:20:24.288373+00'),
	('@svc/core', '020-audit.sql', '2026-11-22 12:20:24.297867+00'),
	('@svc/auth', '001-auth.sql', '2026-11-22 12:20:24.977208+00'),
	('@svc/auth', '002-changes.sql', '2026-11-22 12:20:25.04948+00'),
	('@svc/auth', '003-tenants-and-keys.sql', '2026-11-22 12:20:25.093627+00'),
	('@svc/auth', '004-notices-of-keys.sql', '2026-11-22 12:20:25.124628+00'),
	('@svc/auth', '020-allowances.sql', '2026-11-22 12:20:25.157038+00'),
	('@svc/auth', '021-usage.sql', '2026-11-22 12:20:25.192686+00'),
	('@svc/auth', '022-limits-of-keys.sql', '2026-11-22 12:20:25.214996+00'),
	('@svc/webhooks', '001-webhooks.sql', '2026-11-22 12:20:39.746264+00'),
	('@svc/webhooks', '002-parked-deliveries.sql', '2026-11-22 12:20:39.780029+00'),
	('@svc/webhooks', '020-webhook-settings.sql', '2026-11-22 12:20:39.81104+00'),
	('@svc/webhooks', '021-webhook-tenants.sql', '2026-11-22 12:20:39.827703+00'),
	('@svc/webhooks', '030-inbound-log.sql', '2026-11-22 12:20:39.862924+00');
INSERT INTO svc."__svc.processes" VALUES
	('01a20333-8b23-7507-9dc2-c86af7600041', '2026-11-22 12:20:40.060428+00', '2026-11-22 12:20:41.528208+00', '2026-11-22 12:20:48.325149+00', '{"days": {"auditRetentionDays": 365, "eventRetentionDays": 30, "deadLetterRetentionDays": 90, "inboundLogRetentionDays": 7, "deliveryLogRetentionDays": 30}, "events": {"order.created": ["order.created"], "__svc.webhooks": ["order.created", "order.shipped"]}}', true),
	('01a20333-aec4-7660-9980-4da69f4d6cb3', '2026-11-22 12:20:48.793267+00', '2026-11-22 12:20:49.783253+00', '2026-11-22 12:20:49.932695+00', '{"days": {"auditRetentionDays": 365, "eventRetentionDays": 30, "deadLetterRetentionDays": 90, "inboundLogRetentionDays": 7, "deliveryLogRetentionDays": 30}, "events": {"order.created": ["order.created"], "__svc.webhooks": ["order.created", "order.shipped"]}}', false);
INSERT INTO svc."__svc.subscriptions" VALUES
	('order.created', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('order.shipped', '__svc.webhooks', '__svc.webhooks.deliver', true, true, 30),
	('order.created', 'order.created', '__svc.sub/order.created', true, false, 0);
INSERT INTO svc."__svc.targets" VALUES
	('__svc.webhooks', '*', '01a20333-96f7-7510-a781-61a4a41d871b', '', NULL),
	('__svc.webhooks', 'order.created', '01a20333-9725-76bf-a72f-0fa64eff5c9e', 'acme', NULL);
INSERT INTO svc."__svc.webhooks.delivery_log.2026-11-22" VALUES
	('01a20333-986e-710d-9cb4-e1a4bb209efe', '01a20333-9725-76bf-a72f-0fa64eff5c9e', 'order.created', 'acmefirst', NULL, 'd08ad95a-76ad-4346-aac9-a0bd4bfe0be1', 1, 'failed', 500, 'http', 140, '', '2026-11-22 12:20:42.538+00', '2026-11-22 12:20:43.686+00'),
	('01a20333-9884-7562-8f4d-d4b9ee6fff94', '01a20333-96f7-7510-a781-61a4a41d871b', 'order.created', 'acmefirst', NULL, '479b3b79-0049-4cf9-8945-4ec03edf972a', 1, 'delivered', 204, NULL, 115, '', '2026-11-22 12:20:42.569+00', NULL),
	('01a20333-9884-7562-8f4d-db7afa95f084', '01a20333-9742-76b8-b4da-3bc6f6bf736b', 'order.created', 'acmefirst', NULL, 'b9c5f124-caed-42f4-bba5-70afe72c77aa', 1, 'delivered', 204, NULL, 115, '', '2026-11-22 12:20:42.569+00', NULL),
	('01a20333-9cae-763f-8d7d-338bcca73195', '01a20333-9725-76bf-a72f-0fa64eff5c9e', 'order.created', 'acmefirst', NULL, 'd08ad95a-76ad-4346-aac9-a0bd4bfe0be1', 2, 'dead', 500, 'http', 2, '', '2026-11-22 12:20:43.794+00', NULL),
	('01a20333-9d7c-73f4-92e2-48ac0d7eae90', '01a20333-9742-76b8-b4da-3bc6f6bf736b', 'order.created', '01a20333-9ce1-751d-a16a-f73640e97b76', NULL, '2c98bd48-96fa-450b-b75a-71b47e858939', 1, 'delivered', 204, NULL, 22, '', '2026-11-22 12:20:44.006+00', NULL),
	('01a20333-9d7c-73f4-92e2-44d3ea646039', '01a20333-96f7-7510-a781-61a4a41d871b', 'order.created', '01a20333-9ce1-751d-a16a-f73640e97b76', NULL, '2daa8edc-9a1d-4092-84a3-4a60827b8fb9', 1, 'delivered', 204, NULL, 22, '', '2026-11-22 12:20:44.006+00', NULL),
	('01a20333-a22b-76cc-bafa-505bacdd74fa', '01a20333-96f7-7510-a781-61a4a41d871b', 'order.shipped', '01a20333-a1b0-70c9-80e5-390d0d2019b8', NULL, '2cf1f316-a2c9-492f-bfe4-4a82ac26919e', 1, 'delivered', 204, NULL, 26, '', '2026-11-22 12:20:45.2+00', NULL);
INSERT INTO svc."__svc.webhooks.inbound_log" VALUES
	('01a20333-a1af-75b9-bd86-9e81981c2ee8', 'shop', NULL, 'accepted', NULL, 'order.shipped', '01a20333-a1b0-70c9-80e5-390d0d2019b8', '127.0.0.1', 11, 59, NULL, NULL, NULL),
	('01a20333-a201-76ef-86e7-27d436b6722f', 'shop', NULL, 'refused', 'no signature matches', NULL, NULL, '127.0.0.1', 11, 0, NULL, NULL, NULL);
INSERT INTO svc."__svc.webhooks.registrations" VALUES
	('01a20333-96f7-7510-a781-61a4a41d871b', 'http://127.0.0.1:43969/ok', '{*}', NULL, true, 'whsec_2S3pesZhyt+yct83v4getX7hD0KCd130YBhYsH/Vg4Y=', NULL, NULL, '2026-11-22 12:20:42.361246+00', '2026-11-22 12:20:42.361246+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	('01a20333-9725-76bf-a72f-0fa64eff5c9e', 'http://127.0.0.1:43969/fails', '{order.created}', NULL, true, 'whsec_HCYALAg0GDeZSECLigd9CKYLu/XZ5abKDLoxAg0UZEI=', NULL, NULL, '2026-11-22 12:20:42.405493+00', '2026-11-22 12:20:42.405493+00', 'fails', NULL, NULL, '{"x-own": "secret"}', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, NULL, 'acme'),
	('01a20333-9742-76b8-b4da-3bc6f6bf736b', 'http://127.0.0.1:43969/ok', '{order.created}', NULL, false, 'whsec_XHEf/nRUQ4hbF2ua9gTw7Yji/hQViI/gTMANA5LqLYI=', NULL, NULL, '2026-11-22 12:20:42.434922+00', '2026-11-22 12:20:45.217038+00', NULL, NULL, '{"payload": {"total": {"$gt": 1}}}', NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e VALUES
	('d08ad95a-76ad-4346-aac9-a0bd4bfe0be1', '__svc.webhooks.deliver', -1, '{"event": "order.created", "target": "01a20333-9725-76bf-a72f-0fa64eff5c9e", "eventId": "acme\u001ffirst", "deliveryId": "d08ad95a-76ad-4346-aac9-a0bd4bfe0be1"}', 'failed', 1, 1, 1, false, 43200, 86399, 60, '01a20333-9725-76bf-a72f-0fa64eff5c9e', NULL, '01a20333-9725-76bf-a72f-0fa64eff5c9e', '01a20333-8b23-7507-9dc2-c86af7600041', '2026-11-22 12:20:43.68643+00', '2026-11-22 12:20:42.485028+00', '2026-11-22 12:20:43.789534+00', '2026-11-22 12:20:43.79668+00', '2036-11-19 12:20:42.485028+00', '{"error": "http", "attempt": 2, "durationMs": 2, "statusCode": 500, "attemptedAt": "2026-11-22T12:20:43.794Z", "responseBody": ""}', '__svc.webhooks.deliver.dlq', 'standard', NULL, 20, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL),
	('3d379ec5-57b4-422c-9a35-ce996e3fdae2', '__svc.webhooks.deliver', 0, '{"event": "order.created", "target": "01a20333-96f7-7510-a781-61a4a41d871b", "eventId": "01a20333-b456-7079-938c-03905e1e335e", "deliveryId": "3d379ec5-57b4-422c-9a35-ce996e3fdae2"}', 'created', 1, 0, 1, false, 43200, 86399, 60, '01a20333-96f7-7510-a781-61a4a41d871b', NULL, '01a20333-96f7-7510-a781-61a4a41d871b', NULL, '2026-11-22 12:20:49.890387+00', '2026-11-22 12:20:49.890387+00', NULL, NULL, '2036-11-19 12:20:49.890387+00', NULL, '__svc.webhooks.deliver.dlq', 'standard', NULL, 20, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL),
	('ea2f3450-cca1-4ec0-9011-2592fd5b286f', '__svc.webhooks.deliver', 0, '{"event": "order.shipped", "target": "01a20333-96f7-7510-a781-61a4a41d871b", "eventId": "acme\u001f01a20333-b47d-759a-b4b8-cd8128497c47", "deliveryId": "ea2f3450-cca1-4ec0-9011-2592fd5b286f"}', 'created', 1, 0, 1, false, 43200, 86399, 60, '01a20333-96f7-7510-a781-61a4a41d871b', NULL, '01a20333-96f7-7510-a781-61a4a41d871b', NULL, '2026-11-22 12:20:49.924+00', '2026-11-22 12:20:49.924+00', NULL, NULL, '2036-11-19 12:20:49.924+00', NULL, '__svc.webhooks.deliver.dlq', 'standard', NULL, 20, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO svc_jobs.job_common VALUES
	('01a20333-9c94-718e-84db-bbf0b2bbe81a', '__svc.webhooks.deliver.dlq', -1, '{"event": "order.created", "target": "01a20333-9725-76bf-a72f-0fa64eff5c9e", "eventId": "acme\u001ffirst", "deliveryId": "d08ad95a-76ad-4346-aac9-a0bd4bfe0be1"}', 'created', 0, 0, 0, false, NULL, 900, 604800, '01a20333-9725-76bf-a72f-0fa64eff5c9e', NULL, '01a20333-9725-76bf-a72f-0fa64eff5c9e', '01a20333-8b23-7507-9dc2-c86af7600041', '2026-11-22 12:20:43.79668+00', '2026-11-22 12:20:43.79668+00', NULL, NULL, '2086-11-07 12:20:43.79668+00', NULL, NULL, NULL, NULL, NULL, false, false, 0, '__svc.webhooks.deliver', 'd08ad95a-76ad-4346-aac9-a0bd4bfe0be1', '2026-11-22 12:20:42.485028+00', 1, '{"error": "http", "attempt": 2, "durationMs": 2, "statusCode": 500, "attemptedAt": "2026-11-22T12:20:43.794Z", "responseBody": ""}', 'd08ad95a-76ad-4346-aac9-a0bd4bfe0be1'),
	('1e0b4134-c32a-4b6f-8a6e-be56e02df392', '__svc.sub/order.created', -1, '{"event": "order.created", "eventId": "01a20333-9ce1-751d-a16a-f73640e97b76", "deliveryId": "1e0b4134-c32a-4b6f-8a6e-be56e02df392"}', 'failed', 1, 1, 1, false, 43200, 86399, 60, NULL, NULL, NULL, '01a20333-8b23-7507-9dc2-c86af7600041', '2026-11-22 12:20:44.89112+00', '2026-11-22 12:20:43.884584+00', '2026-11-22 12:20:45.027995+00', '2026-11-22 12:20:45.039435+00', '2036-11-19 12:20:43.884584+00', '{"message": "the handler fails"}', '__svc.sub/order.created.dlq', 'standard', NULL, 20, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL),
	('01a20333-a16f-7bae-8b4f-03be7c37fdcb', '__svc.sub/order.created.dlq', -1, '{"event": "order.created", "eventId": "01a20333-9ce1-751d-a16a-f73640e97b76", "deliveryId": "1e0b4134-c32a-4b6f-8a6e-be56e02df392"}', 'created', 0, 0, 0, false, NULL, 900, 604800, NULL, NULL, NULL, '01a20333-8b23-7507-9dc2-c86af7600041', '2026-11-22 12:20:45.039435+00', '2026-11-22 12:20:45.039435+00', NULL, NULL, '2086-11-07 12:20:45.039435+00', NULL, NULL, NULL, NULL, NULL, false, false, 0, '__svc.sub/order.created', '1e0b4134-c32a-4b6f-8a6e-be56e02df392', '2026-11-22 12:20:43.884584+00', 1, '{"message": "the handler fails"}', '1e0b4134-c32a-4b6f-8a6e-be56e02df392'),
	('84a9313d-bfde-41b9-aad9-c9863840854e', '__svc.sub/order.created', 0, '{"event": "order.created", "eventId": "01a20333-b456-7079-938c-03905e1e335e", "deliveryId": "84a9313d-bfde-41b9-aad9-c9863840854e"}', 'created', 1, 0, 1, false, 43200, 86399, 60, NULL, NULL, NULL, NULL, '2026-11-22 12:20:49.890387+00', '2026-11-22 12:20:49.890387+00', NULL, NULL, '2036-11-19 12:20:49.890387+00', NULL, '__svc.sub/order.created.dlq', 'standard', NULL, 20, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO svc_jobs.queue VALUES
	('__svc.sub/order.created', 'standard', 16, 5, true, 43200, 86399, 315360000, 60, '__svc.sub/order.created.dlq', false, 'job_common', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, '{0}', 20, false, NULL, '2026-11-22 12:20:42.618797+00', '2026-11-22 12:20:42.658317+00', '2026-11-22 12:20:42.761037+00', '2026-11-22 12:20:41.45359+00', '2026-11-22 12:20:41.45359+00'),
	('__svc.sub/order.created.dlq', 'standard', 0, 0, false, NULL, 900, 1892160000, 604800, NULL, false, 'job_common', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, '{0}', NULL, false, NULL, '2026-11-22 12:20:42.618797+00', '2026-11-22 12:20:42.658317+00', '2026-11-22 12:20:42.761037+00', '2026-11-22 12:20:41.422093+00', '2026-11-22 12:20:41.422093+00'),
	('__svc.webhooks.deliver.dlq', 'standard', 0, 0, false, NULL, 900, 1892160000, 604800, NULL, false, 'job_common', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, '{0}', NULL, false, NULL, '2026-11-22 12:20:42.618797+00', '2026-11-22 12:20:42.658317+00', '2026-11-22 12:20:42.761037+00', '2026-11-22 12:20:39.908266+00', '2026-11-22 12:20:39.908266+00'),
	('__svc.webhooks.deliver', 'standard', 16, 5, true, 43200, 86399, 315360000, 60, '__svc.webhooks.deliver.dlq', true, 'jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e', 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, NULL, NULL, '{0}', 20, false, NULL, '2026-11-22 12:20:42.78503+00', '2026-11-22 12:20:42.793036+00', '2026-11-22 12:20:42.824044+00', '2026-11-22 12:20:39.931319+00', '2026-11-22 12:20:39.931319+00');
INSERT INTO svc_jobs.version VALUES
	(43, NULL, '2026-11-22 12:20:24.606523+00', NULL, '2026-11-22 12:20:42.860855+00', NULL);
SELECT pg_catalog.setval('svc."__svc.job_moves_id_seq"', 1, true);
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
ALTER TABLE ONLY svc."__svc.events"
    ADD CONSTRAINT "__svc.events_pkey" PRIMARY KEY (name, id);
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
ALTER TABLE ONLY svc."__svc.subscriptions"
    ADD CONSTRAINT "__svc.subscriptions_pkey" PRIMARY KEY (event_name, subscription);
ALTER TABLE ONLY svc."__svc.targets"
    ADD CONSTRAINT "__svc.targets_pkey" PRIMARY KEY (subscription, event_name, target);
ALTER TABLE ONLY svc."__svc.webhooks.inbound_log"
    ADD CONSTRAINT "__svc.webhooks.inbound_log_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY svc."__svc.webhooks.registrations"
    ADD CONSTRAINT "__svc.webhooks.registrations_pkey" PRIMARY KEY (id);
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
CREATE INDEX "__svc.events_published_at_idx" ON svc."__svc.events" USING brin (published_at);
CREATE INDEX "__svc.job_moves_queue_group_id_idx" ON svc."__svc.job_moves" USING btree (queue, group_id);
CREATE INDEX "__svc.kv_expires_at_idx" ON svc."__svc.kv" USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX "__svc.subscriptions_subscription_idx" ON svc."__svc.subscriptions" USING btree (subscription);
CREATE INDEX "__svc.targets_target_idx" ON svc."__svc.targets" USING btree (target);
CREATE INDEX "__svc.webhooks.delivery_log_delivery_id_idx" ON ONLY svc."__svc.webhooks.delivery_log" USING btree (delivery_id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-22_delivery_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-22" USING btree (delivery_id);
CREATE INDEX "__svc.webhooks.delivery_log_webhook_id_id_idx" ON ONLY svc."__svc.webhooks.delivery_log" USING btree (webhook_id, id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-22_webhook_id_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-22" USING btree (webhook_id, id);
CREATE INDEX "__svc.webhooks.delivery_log_webhook_id_id_idx1" ON ONLY svc."__svc.webhooks.delivery_log" USING btree (webhook_id, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-22_webhook_id_id_idx1" ON svc."__svc.webhooks.delivery_log.2026-11-22" USING btree (webhook_id, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-23_delivery_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-23" USING btree (delivery_id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-23_webhook_id_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-23" USING btree (webhook_id, id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-23_webhook_id_id_idx1" ON svc."__svc.webhooks.delivery_log.2026-11-23" USING btree (webhook_id, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-24_delivery_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-24" USING btree (delivery_id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-24_webhook_id_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-24" USING btree (webhook_id, id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-24_webhook_id_id_idx1" ON svc."__svc.webhooks.delivery_log.2026-11-24" USING btree (webhook_id, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-25_delivery_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-25" USING btree (delivery_id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-25_webhook_id_id_idx" ON svc."__svc.webhooks.delivery_log.2026-11-25" USING btree (webhook_id, id);
CREATE INDEX "__svc.webhooks.delivery_log.2026-11-25_webhook_id_id_idx1" ON svc."__svc.webhooks.delivery_log.2026-11-25" USING btree (webhook_id, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.delivery_log.rest_delivery_id_idx" ON svc."__svc.webhooks.delivery_log.rest" USING btree (delivery_id);
CREATE INDEX "__svc.webhooks.delivery_log.rest_webhook_id_id_idx" ON svc."__svc.webhooks.delivery_log.rest" USING btree (webhook_id, id);
CREATE INDEX "__svc.webhooks.delivery_log.rest_webhook_id_id_idx1" ON svc."__svc.webhooks.delivery_log.rest" USING btree (webhook_id, id) WHERE (status <> 'delivered'::text);
CREATE INDEX "__svc.webhooks.inbound_log_outcome_id_idx" ON svc."__svc.webhooks.inbound_log" USING btree (outcome, id) WHERE (outcome <> 'accepted'::text);
CREATE INDEX "__svc.webhooks.inbound_log_source_id_idx" ON svc."__svc.webhooks.inbound_log" USING btree (source, id);
CREATE INDEX "__svc.webhooks.inbound_log_tenant_id_idx" ON svc."__svc.webhooks.inbound_log" USING btree (tenant, id) WHERE (tenant IS NOT NULL);
CREATE INDEX "__svc.webhooks.registrations_tenant_id_idx" ON svc."__svc.webhooks.registrations" USING btree (tenant, id) WHERE (tenant IS NOT NULL);
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
CREATE INDEX svc_parked_jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0df ON svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e USING btree (singleton_key, start_after) WHERE (blocked AND (state < 'active'::svc_jobs.job_state));
CREATE INDEX warning_i1 ON svc_jobs.warning USING btree (created_on DESC);
ALTER INDEX svc."__svc.webhooks.delivery_log_delivery_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-22_delivery_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-22_webhook_id_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx1" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-22_webhook_id_id_idx1";
ALTER INDEX svc."__svc.webhooks.delivery_log_delivery_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-23_delivery_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-23_webhook_id_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx1" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-23_webhook_id_id_idx1";
ALTER INDEX svc."__svc.webhooks.delivery_log_delivery_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-24_delivery_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-24_webhook_id_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx1" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-24_webhook_id_id_idx1";
ALTER INDEX svc."__svc.webhooks.delivery_log_delivery_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-25_delivery_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-25_webhook_id_id_idx";
ALTER INDEX svc."__svc.webhooks.delivery_log_webhook_id_id_idx1" ATTACH PARTITION svc."__svc.webhooks.delivery_log.2026-11-25_webhook_id_id_idx1";
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