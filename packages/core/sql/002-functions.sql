-- The functions of core. What names mean in them is not for the caller's search_path to decide: schemas of a
-- host may have functions and operators of the same names. Those in plpgsql set their own path, and those of
-- one SQL expression are bound when they are made, and still merged into the statements that call them.

-- The smallest UUIDv7 of a moment (RFC 9562, section 5.7). There is no time before 1970 in it: the
-- smallest one of such a moment is the smallest of all.
create function svc."__svc.first_uuid"(at timestamptz) returns uuid
language sql immutable
return (lpad(to_hex(case when at < 'epoch' then 0
                         else floor(extract(epoch from at) * 1000)::bigint end), 12, '0')
        || repeat('0', 20))::uuid;

-- A dead letter gets a UUIDv7: newest first is a sort by id, and a page can begin after an id whose
-- letter is gone. pg-boss draws random ids.
create function svc."__svc.dead_letter_id"() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.id := overlay(
    overlay(gen_random_uuid()::text placing left(svc."__svc.first_uuid"(new.created_on)::text, 13) from 1 for 13)
    placing '7' from 15 for 1)::uuid;
  return new;
end
$$;

-- For the triggers of tables whose rows make a tenant one that a search finds.
create function svc."__svc.note_tenant"() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into svc."__svc.tenants" (tenant)
  select new.tenant
   where not exists (select from svc."__svc.tenants" where tenant = new.tenant);
  return null;
end
$$;

create function svc."__svc.filter_set"(event_name text, tenant text) returns bigint
language sql immutable
return hashtextextended(event_name || ' ' || tenant, 0);

create function svc."__svc.note_filter_change"() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if old.filter is not null then
    insert into svc."__svc.filter_changes" (filter_set)
    values (svc."__svc.filter_set"(old.event_name, old.tenant));
  end if;
  if new.filter is not null then
    insert into svc."__svc.filter_changes" (filter_set)
    values (svc."__svc.filter_set"(new.event_name, new.tenant));
  end if;
  return null;
end
$$;

create trigger note_filter_change
  after insert or delete or update of subscription, event_name, recipient, tenant, filter
  on svc."__svc.recipients" for each row execute function svc."__svc.note_filter_change"();

create function svc."__svc.note_first_filter"() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into svc."__svc.filter_changes" (filter_set, first_of)
  select svc."__svc.filter_set"(old.event_name, old.tenant), old.recipient
   where exists (
     select from svc."__svc.recipients"
      where subscription = old.subscription and recipient = old.recipient and filter is not null);
  return null;
end
$$;

-- Where it wants other events too from now on, the row without a filter is deleted and others are
-- inserted. This runs at the end of the statement, and sees them.
create trigger note_first_filter
  after delete or update of filter on svc."__svc.recipients" for each row
  when (old.filter is null)
  execute function svc."__svc.note_first_filter"();

-- Within what snapshots can be compared: the server, by its start, and the time since it last recovered from a
-- crash, which sets statistics back. A crash may give the numbers of transactions to others. Null on a standby:
-- its snapshots show as ended what is under way on the primary, and its start stays when it takes over.
create function svc."__svc.of_snapshots"() returns text
language sql stable
return case when not pg_is_in_recovery()
  then extract(epoch from pg_postmaster_start_time()) || ' '
       || extract(epoch from pg_stat_get_bgwriter_stat_reset_time()) end;

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
           (snapshot is not null and server = svc."__svc.of_snapshots"()
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
             'server', svc."__svc.of_snapshots"(),
             'readAt', extract(epoch from now())),
           'stale', coalesce(json_agg(n) filter (where is_stale), '[]'),
           'own', coalesce(json_agg(n) filter (where is_own), '[]'))::text
    from filter_set
  union all
  select filter_set.n::text, its.subscription, its.recipient::text, its.filter::text
    from filter_set
   -- "offset" makes the planner read the index once for each set, instead of the whole table.
   cross join lateral (
     select known.subscription, known.recipient, known.filter from svc."__svc.recipients" as known
      where known.event_name = filter_set.name and known.tenant = filter_set.tenant
        and known.filter is not null
     offset 0
   ) as its
   where filter_set.is_stale;
end;

-- The recipients of a subscription, without a filter, that want an event which these names mean, of this tenant.
-- Read by one name and one tenant at a time: before version 17, Postgres may read all of a subscription where it
-- is given lists of them. "offset" makes it begin with the names.
create function svc."__svc.recipients_of"(subscription text, meant_by text[], tenant text)
returns table (recipient uuid, version uuid)
language sql stable
begin atomic
  select its.recipient, its.version
    from unnest("__svc.recipients_of".meant_by) as meaning (name)
   -- '' for recipients without a tenant.
   cross join lateral (values (''), ("__svc.recipients_of".tenant)) as whose (tenant)
   cross join lateral (
     select wants.recipient, wants.version
       from svc."__svc.recipients" as wants
      where wants.subscription = "__svc.recipients_of".subscription and wants.event_name = meaning.name
        and wants.tenant = whose.tenant and wants.filter is null
     offset 0
   ) as its;
end;

-- The feed has the events in the order of their positions. A transaction that takes positions holds a shared
-- lock until its end, with a number that is below all that it takes: the last one that was taken before. No
-- position up to the least of these numbers is taken by an open transaction, so a reader that stops there leaves
-- nothing out. A transaction of a host takes its positions as it commits, however long it was open.
--
-- With the rights of the owner: a role needs those on tables alone.
create function svc."__svc.take_positions"(count int, holds boolean) returns bigint[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not holds then
    perform pg_advisory_xact_lock_shared(
      7763009,
      (coalesce(pg_sequence_last_value('svc."__svc.event_positions"'::regclass), 0) & 2147483647)::int);
  end if;
  if count = 1 then
    return array[nextval('svc."__svc.event_positions"'::regclass)];
  end if;
  return array(select nextval('svc."__svc.event_positions"'::regclass) from generate_series(1, count));
end
$$;

-- The last position that was taken, and that up to which no open transaction has any. A reader asks for it before it
-- takes the snapshot in which it reads: a transaction that holds no lock any more is committed in that.
create function svc."__svc.feed_end"(out last bigint, out settled bigint)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- A lock has the lowest 31 bits of its number. How far it is ahead of the last position, negative behind it.
  ahead bigint;
begin
  last := coalesce(pg_sequence_last_value('svc."__svc.event_positions"'::regclass), 0);
  select min((lock.objid::bigint - last + 1073741824) & 2147483647) - 1073741824 into ahead
    from pg_locks as lock
   where lock.locktype = 'advisory' and lock.classid = 7763009 and lock.objsubid = 2
     and lock.database = (select oid from pg_database where datname = current_database());
  settled := last + least(coalesce(ahead, 0), 0);
end
$$;

-- At the commit of a transaction of a host: the order of the feed is that of commits.
create function svc."__svc.take_position_of_event"() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Of this transaction, and of this schema: one lock is enough for all its events.
  holds boolean := current_setting('svc' || '.holds_feed', true) is not distinct from pg_current_xact_id()::text;
begin
  update svc."__svc.events" set position = (svc."__svc.take_positions"(1, holds))[1]
   where name = new.name and id = new.id and position is null;
  if not holds then
    perform set_config('svc' || '.holds_feed', pg_current_xact_id()::text, true);
  end if;
  return null;
end
$$;

create constraint trigger take_position_of_event
  after insert on svc."__svc.events" deferrable initially deferred for each row
  when (new.position is null)
  execute function svc."__svc.take_position_of_event"();

-- Also in a session that acts as a replica.
alter table svc."__svc.events" enable always trigger take_position_of_event;

-- What tells an event from another one that has the same position: a server that lacked the last commits took over,
-- and gave their positions to other events.
create function svc."__svc.mark_of"(published timestamptz) returns bigint
language sql stable
return (extract(epoch from published) * 1000000)::bigint % 1000000000;

-- Null where there is no such event.
create function svc."__svc.mark_of_position"(of bigint) returns bigint
language sql stable
return (select svc."__svc.mark_of"(published_at) from svc."__svc.events" where position = of);

-- The position of the newest event before which no open transaction has any, and its mark: what follows it is new.
create function svc."__svc.newest_position"(out newest bigint, out mark bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  feed_end record;
begin
  select * into feed_end from svc."__svc.feed_end"();
  newest := greatest((select max(position) from svc."__svc.events" where position <= feed_end.settled),
                     (select deleted_to from svc."__svc.feed"));
  mark := svc."__svc.mark_of_position"(newest);
end
$$;

-- A page of the feed, as JSON: the events after a position whose names are wanted, in their order, and the position
-- up to which these are all. Where old events after that position were deleted, `deletedTo` is above it. Where another
-- event, or none, has that position by now, `isKnown` is false.
create function svc."__svc.read_feed"(
  after bigint,
  -- Null where it has none.
  mark_of_after bigint,
  -- What recipients may ask for, see "names_that_mean"; of the events that some process makes deliveries of.
  names text[],
  -- Null: the events of all tenants; '': those of none.
  of_tenant text,
  -- Where the walk ends at the latest: so many events, those that are not wanted included ...
  walked_at_most int,
  -- ... so many that are wanted, and so many bytes of them, save the first.
  most int,
  most_bytes bigint
) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  feed_end record;
  settled bigint;
  events json;
  found_count int;
  taken_count int;
  last_taken bigint;
  walked_count int;
  walked_to bigint;
  newest bigint;
  read_to bigint;
  mark bigint;
  wanted_names text[];
begin
  select * into feed_end from svc."__svc.feed_end"();
  settled := feed_end.settled;
  -- After the end was read: what stands before it was declared by then.
  wanted_names := array(
    select known.event_name from svc."__svc.subscriptions" as known
     where known.fans_out and known.meant_by && names);
  with walked as (
    (select name, id, tenant, published_at, changed, payload, position
       from svc."__svc.events"
      where coalesce(of_tenant, '') = '' and position > after and position <= settled
      order by position limit walked_at_most)
    union all
    (select name, id, tenant, published_at, changed, payload, position
       from svc."__svc.events"
      where of_tenant <> '' and tenant = of_tenant and position > after and position <= settled
      order by position limit walked_at_most)
  ), wanted as materialized (
    -- The names are one set of rows for all events: they are hashed.
    select *, sum(octet_length(payload) + coalesce(octet_length(changed::text), 0) + 500)
                over (order by position) as bytes
      from (select * from walked
             where name in (select unnest(wanted_names)) and (of_tenant is distinct from '' or tenant is null)
             order by position limit most + 1) as found
  ), taken as materialized (
    select * from wanted
     where bytes <= most_bytes or position = (select min(position) from wanted)
     order by position limit most
  )
  select (select count(*) from wanted), count(*), max(position),
         json_agg(json_build_object(
           'position', position, 'mark', svc."__svc.mark_of"(published_at), 'name', name, 'id', id, 'tenant', tenant, 'changed', changed,
           'publishedAt', extract(epoch from published_at)::float8 * 1000, 'payload', payload)
           order by position)
    into found_count, taken_count, last_taken, events
    from taken;

  if taken_count = found_count then
    select count(*), max(position) into walked_count, walked_to
      from (
        (select position from svc."__svc.events"
          where coalesce(of_tenant, '') = '' and position > after and position <= settled
          order by position limit walked_at_most)
        union all
        (select position from svc."__svc.events"
          where of_tenant <> '' and tenant = of_tenant and position > after and position <= settled
          order by position limit walked_at_most)
      ) as walked;
    -- Only positions of events are handed out: a crash of Postgres may take back others.
    if walked_count < walked_at_most then
      select max(position) into newest from svc."__svc.events" where position <= settled;
    end if;
  end if;
  read_to := greatest(after, case when taken_count < found_count then last_taken
                                  else greatest(walked_to, newest) end);
  mark := svc."__svc.mark_of_position"(after);
  return json_build_object(
    'events', coalesce(events, '[]'),
    'to', read_to,
    'mark', svc."__svc.mark_of_position"(read_to),
    'isKnown', mark_of_after is null or mark = mark_of_after
      or (mark is null and after <= (select greatest(deleted_to, erased_to) from svc."__svc.feed")),
    'server', svc."__svc.of_snapshots"(),
    'hasMore', taken_count < found_count or walked_count = walked_at_most,
    -- A deletion of events that were not read any more shows in this later statement.
    'deletedTo', (select deleted_to from svc."__svc.feed"),
    'last', feed_end.last);
end
$$;

-- A publish, whole: the events, and a job for each recipient. One round trip, in the caller's
-- transaction or in one of its own.
--
-- A function, because its plan is made once for each connection: planning takes longer than all the
-- rest, and poolers and other libraries keep no prepared statements. The settings leave one plan, a
-- walk along indexes: a plan that was made while the tables were empty must serve full ones too.
--
-- At a few events a second Postgres needs longer to begin a large statement than to write the rows: what is
-- rare has statements of its own, and adds to variables that the common one reads.
create function svc."__svc.publish"(
  event_names text[],
  -- As they are stored, see event-id.ts.
  event_ids text[],
  payloads text[],
  -- In these arrays '' stands for null, which arrays of parameters hold only where the setting array_nulls
  -- is on.
  tenants text[],
  -- Null, or of each event: see telemetry/trace-context.ts.
  trace_contexts text[],
  -- Null, or keys of "__svc.kv": such an event is published only where its key is free. The key is taken
  -- then, for so many seconds.
  deduplication_keys text[],
  deduplication_seconds float8[],
  -- Null, or the events, from 1, whose filters were asked. Nothing is written if a recipient of another one
  -- has a filter.
  asked_events int[],
  -- The snapshot in which the filters were read ...
  filters_seen pg_snapshot,
  -- ... and whether nothing is written where one of them has changed since.
  asks_again boolean,
  -- Recipients whose filter lets an event through: which of the events, from 1, and whose. A filter that is
  -- not decided yet goes into the job: its worker decides it.
  matched_events int[],
  matched_subscriptions text[],
  matched_recipients uuid[],
  undecided boolean[],
  -- What the publishing process can start now: the queues it works on, and free slots of each ...
  offered_queues text[],
  offered_slots int[],
  -- ... save jobs for these recipients.
  full_recipients text[],
  -- Names the process in the jobs that it claims; null where its death would not be seen.
  owner text,
  -- Jobs of restricted recipients whose attempts have ended there, and are not settled yet. Null: it claims
  -- none of an order.
  ended_jobs uuid[],
  retry_limit int,
  retry_delay int,
  retry_backoff boolean,
  retry_delay_max int,
  -- Null, or a function that writes rows with the events, and the rows: see AttachedFunction.
  attached_function text,
  attached_rows json,
  -- The longest wait for a lock, such as that for an event of the same id; null as the session has it.
  lock_ms int,
  -- Null, or of each event the text of a list: see the column. '' stands for null.
  changes text[],
  -- Whether this statement is a transaction of its own.
  commits_at_once boolean
) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
  -- Events whose filters were not asked, from 1, and a recipient has one.
  filtered int[];
  -- Null, or which of the events to publish, from 1.
  due int[];
  -- Null where all events are new, or which of them, from 1.
  created int[];
  created_names text[];
  created_ids text[];
  -- The jobs that follow: for which event, in which queue, and for whom ...
  job_events int[];
  job_queues text[];
  job_recipients text[];
  job_versions uuid[];
  -- ... with a filter that is not decided: null, or of each.
  job_filters jsonb[];
  -- Those of recipients with a filter.
  admitted_events int[];
  admitted_queues text[];
  admitted_recipients text[];
  admitted_filters jsonb[];
  is_changed boolean;
  -- Ordered recipients that are locked, and which of the jobs are the first ones of those with no other.
  ordered text[];
  first_places int[];
  -- Of the jobs.
  claimed json;
  waiting text[];
  restricted json;
  -- A transaction that began after the commit of this one, or a publish that follows in this one, has
  -- a later moment; one microsecond is less than it takes to write a row.
  moment timestamptz := clock_timestamp();
  -- What recipients want is decided as it was then: this function may wait for an event of the same id.
  asked_at pg_snapshot := coalesce(filters_seen, pg_current_snapshot());
  -- Which recipients with a filter are admitted was decided then, if it is.
  admitted_at pg_snapshot := asked_at;
  is_admitted boolean := filters_seen is null;
  is_written boolean := false;
  -- Of the events, where they are taken at once.
  positions bigint[];
  -- Whether readers of the feed wait for an event.
  is_awaited boolean;
begin
  -- What was sent would be read as other characters.
  if current_setting('client_encoding') <> 'UTF8' then
    return null;
  end if;
  if lock_ms is not null then
    perform set_config('lock_timeout', lock_ms::text, true);
  end if;
  tenants := array_replace(tenants, '', null);
  if commits_at_once then
    positions := svc."__svc.take_positions"(cardinality(event_ids), false);
  end if;

  -- A single event, the ordinary case, is written if nobody has a filter: otherwise, and if it exists, it goes
  -- the way of all others.
  if cardinality(event_ids) = 1 and asked_events is null and deduplication_keys is null then
    insert into svc."__svc.events" (name, id, payload, tenant, trace_context, changed, position)
    select event_names[1], event_ids[1], payloads[1], tenants[1], nullif(trace_contexts[1], ''),
           nullif(changes[1], '')::json, positions[1]
     where not exists (select from svc."__svc.recipients" where filter is not null)
        or not exists (
             select from svc."__svc.recipients"
              where filter is not null
                and event_name = any(svc."__svc.names_that_mean"(event_names[1])))
    on conflict (name, id) do nothing;
    is_written := found;
  end if;

  if not is_written and coalesce(cardinality(asked_events), 0) < cardinality(event_ids) then
    -- Nested: filters of other names and other tenants are looked at only where there are some.
    if exists (select from svc."__svc.recipients" where filter is not null) and exists (
         select from svc."__svc.recipients"
          where filter is not null
            and event_name = any(array(
                  select unnest(svc."__svc.names_that_mean"(name))
                    from (select distinct name from unnest(event_names) as name) as given))) then
      select array_agg(n) into filtered
        from (
          select name, tenant, array_agg(n::int) as numbers
            from unnest(event_names, tenants) with ordinality as given (name, tenant, n)
           where (n = any(asked_events)) is not true
           group by name, tenant
        ) as given
       cross join unnest(numbers) as n
       where exists (
         select from svc."__svc.subscriptions" as wants
          cross join unnest(wants.meant_by) as meaning (name)
          cross join lateral (
            select from svc."__svc.recipients" as its
             where its.subscription = wants.subscription and its.event_name = meaning.name
               and its.tenant = '' and its.filter is not null
            union all
            select from svc."__svc.recipients" as its
             where its.subscription = wants.subscription and its.event_name = meaning.name
               and its.tenant = given.tenant and its.filter is not null
            offset 0
          ) as its
          where wants.event_name = given.name and wants.fans_out);
      if filtered is not null then
        return json_build_object('filtered', filtered);
      end if;
    end if;
  end if;
  if filters_seen is not null and asks_again then
    if exists (
         select from (
           select distinct svc."__svc.filter_set"(wanted.name, its.tenant) as filter_set
             from unnest(asked_events) as n
            cross join lateral unnest(svc."__svc.names_that_mean"(event_names[n])) as wanted (name)
            cross join lateral (values (''), (tenants[n])) as its (tenant)
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
    deduplication_keys := array_replace(deduplication_keys, '', null);
    with taken as (
      insert into svc."__svc.kv" as kv (key, value, expires_at)
      select key, 'true', clock_timestamp() + make_interval(secs => seconds)
        from unnest(deduplication_keys, deduplication_seconds) as given (key, seconds)
       where key is not null
       order by key collate "C"
      on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at
       where kv.expires_at <= clock_timestamp()
      returning key
    )
    select coalesce(array_agg(given.n::int), '{}') into due
      from unnest(deduplication_keys) with ordinality as given (key, n)
     where given.key is null or (given.key in (select key from taken)) is true;
  end if;

  if not is_written then
    with published as (
      insert into svc."__svc.events" (name, id, payload, tenant, trace_context, changed, position)
      select name, id, payload, tenant, nullif(trace_context, ''), nullif(changed, '')::json, position
        from unnest(event_names, event_ids, payloads, tenants, trace_contexts, changes, positions) with ordinality
               as given (name, id, payload, tenant, trace_context, changed, position, n)
       where due is null or given.n = any(due)
       order by name collate "C", id collate "C"
      on conflict (name, id) do nothing
      returning name, id
    )
    select array_agg(name), array_agg(id) into created_names, created_ids from published;
    -- A batch of many does not wait for a join: hash joins are off here, and a nested loop would compare each
    -- event with each other. "is true" keeps the subquery a hash table.
    if coalesce(cardinality(created_ids), 0) < cardinality(event_ids) then
      created := array(
        select given.n::int from unnest(event_names, event_ids) with ordinality as given (name, id, n)
         where ((given.name, given.id) in (
                 select name, id from unnest(created_names, created_ids) as created (name, id))) is true);
    end if;
  end if;

  loop
    if not is_admitted then
      with first_filter as materialized (
        -- Of recipients that had no filter when they were asked.
        select distinct first_of as recipient from svc."__svc.filter_changes"
         where first_of is not null
           and changed_by >= pg_snapshot_xmin(asked_at)
           and changed_by < pg_snapshot_xmax(pg_current_snapshot())
           and changed_by is distinct from pg_current_xact_id_if_assigned()
           and not pg_visible_in_snapshot(changed_by, asked_at)
      ), admitted as (
        -- One whose filter was removed after it had been asked is among those without one.
        select matched.n, its.subscription, its.recipient::text as recipient,
               case when matched.is_undecided then its.filter end as filter
          from unnest(matched_events, matched_subscriptions, matched_recipients, undecided)
                 as matched (n, subscription, recipient, is_undecided)
         cross join lateral (
           select subscription, recipient, filter from svc."__svc.recipients"
            where subscription = matched.subscription and recipient = matched.recipient
              and event_name = any(svc."__svc.names_that_mean"(event_names[matched.n]))
              and filter is not null
            limit 1
         ) as its
        union all
        select given.n::int, wants.subscription, its.recipient::text, null
          from first_filter
         cross join unnest(event_names, tenants) with ordinality as given (name, tenant, n)
          join svc."__svc.subscriptions" as wants on wants.event_name = given.name and wants.fans_out
         cross join lateral (
           select recipient from svc."__svc.recipients"
            where subscription = wants.subscription and recipient = first_filter.recipient
              and event_name = any(wants.meant_by)
              and (tenant = '' or tenant = given.tenant) and filter is not null
            limit 1
         ) as its
         -- One whose former filter matched is among the matched already.
         where its.recipient <> all(matched_recipients) is not false
      )
      select pg_current_snapshot(), array_agg(admitted.n), array_agg(wants.queue),
             array_agg(admitted.recipient), array_agg(admitted.filter)
        into admitted_at, admitted_events, admitted_queues, admitted_recipients, admitted_filters
        from admitted
        join svc."__svc.subscriptions" as wants
          on wants.event_name = event_names[admitted.n] and wants.subscription = admitted.subscription
       where created is null or admitted.n = any(created);
    end if;

    -- An event that existed is wanted only by subscriptions that ask for replays.
    if cardinality(event_ids) = 1 then
      select exists (
               select from svc."__svc.filter_changes"
                where first_of is not null and changed_by >= pg_snapshot_xmin(admitted_at)),
             array_agg(1), array_agg(wants.queue), array_agg(found.recipient::text), array_agg(found.version)
        into is_changed, job_events, job_queues, job_recipients, job_versions
        from svc."__svc.subscriptions" as wants
        left join lateral (
          select its.recipient, its.version
            from svc."__svc.recipients_of"(wants.subscription, wants.meant_by, tenants[1]) as its
           where wants.fans_out
        ) as found on true
       where wants.event_name = event_names[1]
         and (created is null or not wants.idempotent and deduplication_keys[1] is null)
         and (found.recipient is not null or not wants.fans_out);
    else
      select exists (
               select from svc."__svc.filter_changes"
                where first_of is not null and changed_by >= pg_snapshot_xmin(admitted_at)),
             array_agg(n), array_agg(queue), array_agg(recipient::text), array_agg(version)
        into is_changed, job_events, job_queues, job_recipients, job_versions
        from (
          select n, wanting.queue, found.recipient, found.version
            from (
              -- Recipients are looked up once for all events of one name and one tenant.
              select wants.subscription, wants.queue, wants.fans_out, wants.meant_by, given.tenant,
                     array_agg(given.n::int) as numbers
                from unnest(event_names, tenants) with ordinality as given (name, tenant, n)
                join svc."__svc.subscriptions" as wants
                  on wants.event_name = given.name
                 and (created is null or given.n = any(created)
                      or not wants.idempotent and deduplication_keys[given.n] is null)
               group by wants.event_name, wants.subscription, given.tenant
            ) as wanting
            left join lateral (
              select its.recipient, its.version
                from svc."__svc.recipients_of"(wanting.subscription, wanting.meant_by, wanting.tenant) as its
               where wanting.fans_out
            ) as found on true
           cross join unnest(wanting.numbers) as n
           where found.recipient is not null or not wanting.fans_out
           order by n
        ) as job;
    end if;
    -- Whether a recipient has got its first filter since, so that it is neither among these nor among the
    -- admitted.
    if is_changed then
      is_changed := exists (
        select from svc."__svc.filter_changes"
         where first_of is not null
           and changed_by >= pg_snapshot_xmin(admitted_at)
           and changed_by < pg_snapshot_xmax(pg_current_snapshot())
           and changed_by is distinct from pg_current_xact_id_if_assigned()
           and not pg_visible_in_snapshot(changed_by, admitted_at));
    end if;
    exit when not is_changed;
    is_admitted := false;
  end loop;

  if admitted_events is not null then
    -- One whose filter was removed between the two statements is among the jobs already.
    select job_events || array_agg(n), job_queues || array_agg(queue), job_recipients || array_agg(recipient),
           job_versions || array_agg(null::uuid),
           array_fill(null::jsonb, array[coalesce(cardinality(job_events), 0)]) || array_agg(filter)
      into job_events, job_queues, job_recipients, job_versions, job_filters
      from unnest(admitted_events, admitted_queues, admitted_recipients, admitted_filters)
             as admitted (n, queue, recipient, filter)
     where ((n, recipient) in (
             select n, recipient from unnest(job_events, job_recipients) as job (n, recipient)))
           is not true;
  end if;

  -- No two processes may begin one of the same order: the locks last until the commit, and what is committed
  -- before them the next statement sees. Where others have the lock, the job waits.
  if job_events is not null and ended_jobs is not null
     and current_setting('transaction_isolation') = 'read committed' then
    ordered := array(
      select known.recipient from svc."__svc.recipient_states" as known
       where known.queue = any(offered_queues) and known.recipient = any(job_recipients)
         and known.ordered and known.rate_limit is null and not known.held and not known.circuit_open
         and svc."__svc.is_idle"(known.queue, known.recipient, ended_jobs)
         for no key update skip locked);
    if cardinality(ordered) > 0 then
      first_places := array(
        select min(its.place) from unnest(job_queues, job_recipients) with ordinality as its (queue, recipient, place)
         where its.recipient = any(ordered)
           and svc."__svc.is_idle"(its.queue, its.recipient, ended_jobs)
         group by its.recipient);
    end if;
  end if;

  if job_events is not null then
    with wanted as materialized (
      select gen_random_uuid() as id, its.event, its.queue, its.recipient, its.version, its.filter,
             -- Jobs for a recipient that is held or restricted, or whose circuit is open, wait aside from the
             -- start.
             known.restricted is not null as "isAside",
             known.restricted is true as "isRestricted",
             (known.restricted is null or its.place = any(first_places)) is true
               and its.recipient <> all(full_recipients) is not false
               and its.place <= coalesce(
                     offered_slots[array_position(offered_queues, its.queue)], 0) as "isClaimed"
        from unnest(job_events, job_queues, job_recipients, job_versions, job_filters) with ordinality
               as its (event, queue, recipient, version, filter, place)
        left join lateral (
          -- The lock keeps the row: pumps look for jobs that wait aside by these rows.
          select known.restricted from svc."__svc.recipient_states" as known
           where known.queue = its.queue and known.recipient = its.recipient
             and (known.held or known.circuit_open or known.restricted)
             for key share
        ) as known on true
    ), job as (
      insert into svc_jobs.job
        (id, name, data, state, priority, blocked, singleton_key, group_id, group_tier, started_on,
         created_on, start_after, keep_until, retry_limit, retry_delay, retry_backoff, retry_delay_max,
         expire_seconds, deletion_seconds, policy, dead_letter)
      select wanted.id, wanted.queue,
             jsonb_strip_nulls(jsonb_build_object(
               'event', event_names[wanted.event], 'eventId', event_ids[wanted.event],
               'recipient', wanted.recipient, 'deliveryId', wanted.id))
               -- Not stripped of the nulls in it.
               || case when wanted.filter is null then '{}'
                       else jsonb_build_object('filter', wanted.filter) end,
             case when wanted."isClaimed" then 'active' else 'created' end::svc_jobs.job_state,
             case when wanted."isAside" then -2 else 0 end, wanted.recipient is not null,
             wanted.recipient, wanted.recipient,
             case when wanted."isClaimed" then owner end,
             case when wanted."isClaimed" then now() end,
             moment + wanted.event * interval '1 microsecond', now(),
             now() + queue.retention_seconds * interval '1 second',
             "__svc.publish".retry_limit, "__svc.publish".retry_delay, "__svc.publish".retry_backoff,
             "__svc.publish".retry_delay_max,
             queue.expire_seconds, queue.deletion_seconds, queue.policy, queue.dead_letter
        from wanted
        join svc_jobs.queue as queue on queue.name = wanted.queue
    )
    select json_agg(wanted) filter (where "isClaimed"),
           array_agg(queue) filter (where not "isClaimed" and not "isRestricted"),
           json_agg(json_build_object('queue', queue, 'recipient', recipient))
             filter (where "isRestricted" and not "isClaimed")
      into claimed, waiting, restricted
      from wanted;
    if cardinality(waiting) > 1 then
      waiting := array(select distinct queue from unnest(waiting) as queue);
    end if;
  end if;

  if attached_function is not null then
    execute format('select svc.%I($1, $2, $3)', attached_function) using attached_rows, created, payloads;
  end if;
  -- A process that has died is not waited for.
  is_awaited := exists (
    select from svc."__svc.processes"
     where awaits_events and closed_at is null and renewed_at > now() - interval '1 minute');
  return json_build_object(
    'created', created,
    'jobs', cardinality(job_events),
    'claimed', claimed,
    'waiting', waiting,
    'restricted', restricted,
    'isAwaited', is_awaited,
    'publishedAt', date_part('epoch', now()) * 1000,
    'madeAt', date_part('epoch', moment) * 1000,
    'startedOn', now(),
    'transactionId', pg_current_xact_id());
end
$$;

-- Which of these events, from 1, cannot be published now, since an open transaction holds the deduplication
-- key, or the id where there is no key (''). Nothing is written: each row goes in alone, and out again.
create function svc."__svc.held"(event_names text[], event_ids text[], deduplication_keys text[])
returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  held int[] := '{}';
begin
  perform set_config('lock_timeout', '2', true);
  for n in 1 .. cardinality(event_ids) loop
    begin
      if deduplication_keys[n] = '' then
        insert into svc."__svc.events" (name, id, payload) values (event_names[n], event_ids[n], 'null')
        on conflict (name, id) do nothing;
      else
        insert into svc."__svc.kv" (key, value) values (deduplication_keys[n], 'true')
        on conflict (key) do update set value = excluded.value;
      end if;
      raise exception using errcode = 'SV000';
    exception
      when sqlstate 'SV000' then null;
      when lock_not_available then held := held || n;
    end;
  end loop;
  return held;
end
$$;

-- Whether no job of a recipient waits or is attempted, save these.
create function svc."__svc.is_idle"(queue_name text, recipient_name text, except_jobs uuid[]) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return not exists (
    select from unnest(array[-2, -1, 0]) as lane
     where (select true from svc_jobs.job as job
             where job.name = queue_name and job.priority = lane and job.singleton_key = recipient_name
               and job.blocked and job.state < 'active' limit 1))
    and not exists (
      select from svc_jobs.job as job
       where job.name = queue_name and job.group_id = recipient_name and job.state = 'active'
         and job.id <> all(except_jobs));
end
$$;

-- Whether jobs of a recipient wait that are not aside.
create function svc."__svc.waits_elsewhere"(queue_name text, recipient_name text) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from unnest(array[-1, 0]) as lane
     where (select true from svc_jobs.job as job
             where job.name = queue_name and job.priority = lane and job.singleton_key = recipient_name
               and job.blocked and job.state < 'active' limit 1));
end
$$;

-- Claims jobs for restricted recipients. The row of a recipient is locked meanwhile, so that no two
-- processes count at the same time; each statement of the function sees what is committed when it begins.
-- A recipient that another process has locked is passed over, and one without waiting jobs is not locked.
create function svc."__svc.claim_restricted"(
  queue_name text,
  -- How many jobs for which recipients the process has room for.
  recipients text[],
  mosts int[],
  -- Names the process in the jobs that it claims.
  owner text,
  -- The process begins each attempt so soon after it asked, or gives it back.
  begins_within_ms int,
  -- What the process tells of its permits: how long after it had asked the attempt began (null: it was
  -- given back), and how long the attempt took (null: it runs).
  told_permits uuid[],
  told_after_ms float8[],
  told_took_ms float8[],
  -- Jobs whose attempts have ended there, and are not settled yet: they do not count as attempts.
  ended_jobs uuid[],
  -- Each attempt is a probe of a recipient that is held. Restrictions do not count. The job of a recipient that is
  -- due first is claimed, also before it is due. "__svc.settle" makes a job whose probe has failed the last one.
  are_probes boolean
) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
#variable_conflict use_column
declare
  wanted record;
  its record;
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
  count_permits int;
  due_by timestamptz;
  wait_until timestamptz;
  -- Whether jobs of the recipient wait, and whether some of them do not wait aside yet.
  is_waiting boolean;
  has_others boolean;
  -- What the process can expect of each recipient.
  answers json[] := '{}';
begin
  for wanted in
    select recipient, most from unnest(recipients, mosts) as given (recipient, most) order by recipient
  loop
    -- A lock would be a write, and others pass over a locked row.
    select count(*) > 0, coalesce(bool_or(lane > -2), false) into is_waiting, has_others
      from unnest(array[-2, -1, 0]) as lane
     where (select true from svc_jobs.job as job
             where job.name = queue_name and job.priority = lane and job.singleton_key = wanted.recipient
               and job.blocked and job.state < 'active' limit 1);
    if cardinality(told_permits) = 0 and not is_waiting then
      answers := answers
        || json_build_object('recipient', wanted.recipient, 'isTold', true, 'isBusy', false);
      continue;
    end if;

    select * into its from svc."__svc.recipient_states" as known
     where known.queue = queue_name and known.recipient = wanted.recipient
       and (known.restricted or are_probes)
       for no key update skip locked;
    if not found or its.held <> are_probes then
      -- Others have it for a moment: another claim, or a publish that may leave a job.
      answers := answers
        || json_build_object('recipient', wanted.recipient, 'isTold', false, 'isBusy', found,
                             'waitMs', case when not found then 0 end);
      continue;
    end if;

    most := wanted.most;
    slots_free := null;
    rate_free := null;
    wait_until := null;
    ids := '{}';
    count_claimed := 0;

    if its.rate_limit is not null then
      span := its.rate_seconds * interval '1 second';
      on_the_way_ms := least(500 * its.rate_seconds, 1000);
      if cardinality(told_permits) > 0 then
        delete from svc."__svc.attempt_permits" as permitted
         where permitted.id = any(array(
                 select id from unnest(told_permits, told_after_ms) as told (id, after_ms)
                  where after_ms is null))
           and permitted.queue = queue_name and permitted.recipient = wanted.recipient;
        update svc."__svc.attempt_permits" as permitted
           set begun_by = least(permitted.begun_by, permitted.permitted_at + interval '1 millisecond'
                 * (told.after_ms + least(told.took_ms, on_the_way_ms)))
          from unnest(told_permits, told_after_ms, told_took_ms) as told (id, after_ms, took_ms)
         where permitted.id = told.id and told.after_ms is not null
           and permitted.queue = queue_name and permitted.recipient = wanted.recipient;
      end if;
      delete from svc."__svc.attempt_permits" as permitted
       where permitted.queue = queue_name and permitted.recipient = wanted.recipient
         and permitted.begun_by <= clock_timestamp() - span;
      select its.rate_limit - coalesce(sum(permitted.attempts), 0), count(*)
        into rate_free, count_permits
        from svc."__svc.attempt_permits" as permitted
       where permitted.queue = queue_name and permitted.recipient = wanted.recipient;
      most := least(most, rate_free);
      -- Few rows stand for many attempts: those of each 200th of the span count until the last ends.
      if count_permits > 1000 then
        with older as (
          delete from svc."__svc.attempt_permits" as permitted
           where permitted.queue = queue_name and permitted.recipient = wanted.recipient
             and permitted.permitted_at < clock_timestamp() - interval '5 seconds'
          returning permitted_at, begun_by, attempts
        )
        insert into svc."__svc.attempt_permits" (id, queue, recipient, permitted_at, begun_by, attempts)
        select gen_random_uuid(), queue_name, wanted.recipient, max(permitted_at), max(begun_by), sum(attempts)
          from older
         group by floor(extract(epoch from begun_by) * 200 / its.rate_seconds);
      end if;
    end if;

    if its.ordered or its.max_in_flight is not null then
      select case when its.ordered then 1 else its.max_in_flight end - count(*)
        into slots_free
        from svc_jobs.job as job
       where job.name = queue_name and job.group_id = wanted.recipient and job.state = 'active'
         and job.id <> all(ended_jobs);
      most := least(most, slots_free);
    end if;

    -- Those that wait since before it was restricted.
    if has_others then
      update svc_jobs.job as job set priority = -2
       where job.name = queue_name and job.id = any(array(
               select other.id from unnest(array[-1, 0]) as lane
                cross join lateral (
                  select job.id from svc_jobs.job as job
                   where job.name = queue_name and job.priority = lane
                     and job.singleton_key = wanted.recipient and job.blocked and job.state < 'active'
                   order by job.start_after limit 500
                     for update skip locked) as other));
    end if;
    due_by := case when are_probes then 'infinity' else clock_timestamp() end;
    -- The job is chosen after the attempts were counted: one that failed meanwhile may come first. An older job may be
    -- among those that are left.
    if most > 0 and its.ordered and svc."__svc.waits_elsewhere"(queue_name, wanted.recipient) then
      wait_until := clock_timestamp();
    elsif most > 0 and its.ordered then
      select job.id, job.start_after into head from svc_jobs.job as job
       where job.name = queue_name and job.singleton_key = wanted.recipient
         and job.blocked and job.state < 'active' and job.priority = -2
       order by job.created_on, job.id limit 1;
      if found and head.start_after <= due_by then
        -- Another one must not take its place where it is being changed just now.
        ids := array(select job.id from svc_jobs.job as job
                      where job.name = queue_name and job.id = head.id
                        and job.blocked and job.state < 'active' and job.start_after <= due_by
                        for update skip locked);
      end if;
      if cardinality(ids) = 0 then
        wait_until := head.start_after;
      end if;
    elsif most > 0 then
      ids := array(select job.id from svc_jobs.job as job
                    where job.name = queue_name and job.priority = -2
                      and job.singleton_key = wanted.recipient
                      and job.blocked and job.state < 'active' and job.start_after <= due_by
                    order by job.start_after limit most
                    for update skip locked);
    end if;

    if cardinality(ids) > 0 then
      -- A claim that a crash of Postgres forgot would let others begin while the attempt runs.
      perform set_config('synchronous_commit', 'on', true);
      with claimed as (
        update svc_jobs.job as job
           set state = 'active', started_on = clock_timestamp(),
               group_tier = "__svc.claim_restricted".owner,
               retry_count = job.retry_count + (job.started_on is not null)::int
         where job.name = queue_name and job.id = any(ids)
        returning job.*
      ), marked as materialized (
        select claimed.*,
               case when its.rate_limit is not null then gen_random_uuid() end as permit_id
          from claimed
      ), permitted as (
        insert into svc."__svc.attempt_permits" (id, queue, recipient, permitted_at, begun_by)
        select permit_id, queue_name, wanted.recipient, clock_timestamp(),
               clock_timestamp() + (begins_within_ms + on_the_way_ms) * interval '1 millisecond'
          from marked where permit_id is not null
      )
      select count(*),
             json_agg(json_build_object(
               'id', id, 'data', data, 'retryCount', retry_count, 'retryLimit', retry_limit,
               'groupId', group_id, 'createdOn', extract(epoch from created_on)::float8 * 1000,
               'startedOn', started_on::text,
               'isRestricted', its.restricted, 'permitId', permit_id)
               order by start_after)
        into count_claimed, claimed from marked;
      jobs := jobs || claimed;
    end if;

    if rate_free - count_claimed <= 0 then
      -- When so many have left the span that one more may begin.
      select passing.begun_by + span into wait_until
        from (select permitted.begun_by, sum(permitted.attempts) over (order by permitted.begun_by) as gone
                from svc."__svc.attempt_permits" as permitted
               where permitted.queue = queue_name and permitted.recipient = wanted.recipient) as passing
       where passing.gone > count_claimed - rate_free
       order by passing.begun_by limit 1;
    elsif wait_until is null and count_claimed < most and not its.ordered then
      select job.start_after into wait_until from svc_jobs.job as job
       where job.name = queue_name and job.priority = -2 and job.singleton_key = wanted.recipient
         and job.blocked and job.state < 'active'
       order by job.start_after limit 1;
    end if;
    answers := answers || json_build_object(
      'recipient', wanted.recipient,
      'isTold', true,
      'isBusy', slots_free - count_claimed <= 0,
      'hasMore', count_claimed = wanted.most and (
                   select true from svc_jobs.job as job
                    where job.name = queue_name and job.priority = -2 and job.singleton_key = wanted.recipient
                      and job.blocked and job.state < 'active' limit 1) is not null,
      -- Null where nothing waits: the time alone brings no job then.
      'waitMs', case when wait_until is not null
                     then greatest(0, extract(epoch from wait_until - clock_timestamp())::float8 * 1000) end);
  end loop;
  return json_build_object('jobs', to_json(jobs), 'answers', to_json(answers))::text;
end
$$;

-- Ends attempts: what becomes of each job, the process has decided. A job is changed only where the lease is
-- the one that is named: another process may have claimed the job since. Returns the jobs that were changed,
-- and when the next attempt of each follows, where its time is known.
create function svc."__svc.settle"(
  queue_name text,
  -- The jobs, and the lease of each: its "started_on".
  ids uuid[],
  leases timestamptz[],
  -- Those that are done, and are deleted; null: all of them.
  done uuid[],
  -- Null, or lists of jobs, each with its "id". Those that failed are tried again:
  --   "atLeastMs"     not before this time has passed
  --   "exactlyMs"     instead of the back-off that the publish has written into the job, or null
  --   "attemptsLeft"  where the row has another number of them, else null
  --   "attemptedIn"   the trace context of the attempt, or null
  --   "isUnsent"      it was not sent, as those before it
  failed json,
  -- Those that wait for "delayMs", with no attempt used up, or with "isUnsent" as above.
  postponed json,
  -- Those that wait until their "recipient" can have them. "isBehind": after all others of the recipient.
  parked json,
  -- Those that become dead letters, with the "output" of their last attempt.
  dead json
) returns table (id uuid, next_at timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  -- The rows whose leases are these, in the table of the queue: of jobs that are done, and of the others.
  leased_done tid[];
  leased tid[];
  leased_in oid;
  aside text[];
  probe_id uuid;
begin
  -- They are locked: the statements that follow see them as they are then, and find them without an index. By
  -- name and ids, a plan that was made while the queue was empty would read all of the queue. In a lateral part
  -- each id is looked up.
  select array_agg(job.ctid) filter (where done is null or claim.id = any(done)),
         array_agg(job.ctid) filter (where claim.id <> all(done)),
         min(job.tableoid)
    into leased_done, leased, leased_in
    from unnest(ids, leases) as claim (id, lease)
   cross join lateral (
     select job.ctid, job.tableoid from svc_jobs.job as job
      where job.name = queue_name and job.id = claim.id
        and job.state = 'active' and job.started_on = claim.lease
        for update) as job;

  if leased_done is not null then
    return query
    delete from svc_jobs.job as job
     where job.ctid = any(leased_done) and job.tableoid = leased_in
    returning job.id, null::timestamptz;
  end if;

  -- Recipients of those that wait again, of which all jobs wait aside. The locks keep the rows: pumps
  -- look for these jobs by them.
  if leased is not null and (failed is not null or postponed is not null or parked is not null) then
    aside := array(
      select known.recipient from svc."__svc.recipient_states" as known
       where known.queue = queue_name
         and known.recipient = any(array(
               select job.group_id from svc_jobs.job as job
                where job.ctid = any(leased) and job.tableoid = leased_in))
         and (known.held or known.circuit_open or known.restricted)
       order by known.recipient
         for key share);
  end if;

  if failed is not null then
    return query
    update svc_jobs.job as job
       set state = 'retry', output = '{}',
           priority = case when job.group_id = any(aside) then -2 else -1 end,
           retry_limit = coalesce(job.retry_count + claim."attemptsLeft", job.retry_limit),
           start_after = greatest(
             now() + claim."atLeastMs" * interval '1 millisecond',
             now() + case
               when claim."exactlyMs" is not null then claim."exactlyMs" * interval '1 millisecond'
               when not job.retry_backoff then job.retry_delay * interval '1 second'
               -- The back-off of pg-boss.
               else least(job.retry_delay_max,
                          greatest(job.retry_delay, 1) * 2 ^ least(16, job.retry_count + 1) / 2 * (1 + random()))
                      * interval '1 second' end),
           data = (
             select case when claim."isUnsent" then its.data else its.data - 'unsentSince' end
                      || jsonb_strip_nulls(jsonb_build_object('attemptedIn', claim."attemptedIn"))
               -- The job says how many attempts its publish gave it: without a schedule they are its attempts
               -- again.
               from (select case when claim."attemptsLeft" is null then job.data
                                 else jsonb_build_object('publishedRetryLimit', job.retry_limit) || job.data
                                 end) as its (data))
      from json_to_recordset(failed) as claim (
             id uuid, "atLeastMs" float8, "exactlyMs" float8, "attemptsLeft" int,
             "attemptedIn" text, "isUnsent" boolean)
     where job.ctid = any(leased) and job.tableoid = leased_in and job.id = claim.id
    returning job.id, job.start_after;
  end if;

  if postponed is not null then
    return query
    update svc_jobs.job as job
       -- The next claim counts as the same attempt.
       set state = case when job.retry_count = 0 then 'created' else 'retry' end::svc_jobs.job_state,
           retry_count = greatest(job.retry_count - 1, 0),
           started_on = case when job.retry_count > 0 then job.started_on end,
           -- Jobs of the first lane are due.
           priority = case when job.group_id = any(aside) then -2
                           when job.priority = 0 and claim."delayMs" <= 0 then 0 else -1 end,
           start_after = now() + claim."delayMs" * interval '1 millisecond',
           keep_until = now() + claim."delayMs" * interval '1 millisecond'
                          + (job.keep_until - job.start_after),
           data = case when claim."isUnsent" and not job.data ? 'unsentSince'
                       then job.data || jsonb_build_object('unsentSince', now())
                       else job.data end
      from json_to_recordset(postponed) as claim (
             id uuid, "delayMs" float8, "isUnsent" boolean)
     where job.ctid = any(leased) and job.tableoid = leased_in and job.id = claim.id
    returning job.id, job.start_after;
  end if;

  if parked is not null then
    return query
    update svc_jobs.job as job
       set state = case when job.retry_count = 0 then 'created' else 'retry' end::svc_jobs.job_state,
           retry_count = greatest(job.retry_count - 1, 0),
           started_on = case when job.retry_count > 0 then job.started_on end,
           priority = case when job.group_id = any(aside) then -2 else -1 end,
           -- Where the recipient can have it by now; not at once, should the process still see it otherwise.
           start_after = case when job.group_id = any(aside) then job.start_after
                              else now() + interval '1 second' end
      from json_to_recordset(parked) as claim (id uuid)
     where job.ctid = any(leased) and job.tableoid = leased_in and job.id = claim.id
    returning job.id, null::timestamptz;

    -- A probe that failed is due after all others of its recipient, also those whose retry is hours away: the
    -- next probe tries another job. In an order none may overtake another, and a later due time of the first
    -- one would hold up the others.
    for probe_id in
      select claim.id from json_to_recordset(parked) as claim (id uuid, recipient text, "isBehind" boolean)
       where claim."isBehind" and not exists (
               select from svc."__svc.recipient_states" as known
                where known.queue = queue_name and known.recipient = claim.recipient and known.ordered)
    loop
      update svc_jobs.job as job
         set (start_after, keep_until) = (
               select behind.at, behind.at + (job.keep_until - job.start_after)
                 from (
                   select interval '1 microsecond' + greatest(now(), max(last.start_after))
                     from (select start_after from svc_jobs.job as last
                            where last.name = queue_name and last.priority = -2
                              and last.singleton_key = job.singleton_key
                              and last.blocked and last.state < 'active'
                            order by last.start_after desc limit 1) as last) as behind (at))
       where job.name = queue_name and job.id = probe_id and job.priority = -2 and job.state < 'active';
    end loop;
  end if;

  if dead is not null then
    return query
    with gone as (
      delete from svc_jobs.job as job
       using json_to_recordset(dead) as claim (id uuid, output jsonb)
       where job.ctid = any(leased) and job.tableoid = leased_in and job.id = claim.id
      returning job.*, claim.output as last_output
    ), letter as (
      -- As pg-boss makes one.
      insert into svc_jobs.job
        (name, priority, data, retry_limit, retry_backoff, retry_delay, start_after, created_on, keep_until,
         deletion_seconds, expire_seconds, singleton_key, group_id,
         source_name, source_id, source_created_on, source_retry_count, source_output, source_root_id)
      select gone.dead_letter, gone.priority, gone.data, queue.retry_limit, queue.retry_backoff,
             queue.retry_delay, now(), now(), now() + queue.retention_seconds * interval '1 second',
             queue.deletion_seconds, queue.expire_seconds, gone.singleton_key, gone.group_id,
             gone.name, gone.id, gone.created_on, gone.retry_count, gone.last_output,
             coalesce(gone.source_root_id, gone.id)
        from gone join svc_jobs.queue as queue on queue.name = gone.dead_letter
    )
    select gone.id, null::timestamptz from gone;
  end if;
end
$$;

-- The events of which a recipient has a job or a dead letter. A package reads them in its own statements
-- without knowing pg-boss's tables.
create function svc."__svc.queued_events"(of_queue text, of_recipient text)
returns table (name text, id text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select job.data ->> 'event', job.data ->> 'eventId' from svc_jobs.job as job
     where job.name in (of_queue, of_queue || '.dlq') and job.singleton_key = of_recipient
       and job.state in ('created', 'retry', 'active');
end
$$;

-- Sets what restricts the attempts at a recipient: from the commit on it holds for every attempt that
-- begins. Jobs that wait already are put aside in the background, or by the first claim.
create function svc."__svc.restrict_recipient"(
  queue_name text,
  recipient_name text,
  -- At most `rate` attempts begin in any span of `per_seconds`; null: any number.
  rate int,
  per_seconds int,
  -- Attempts at a time; null: any number.
  at_a_time int,
  in_order boolean
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into svc."__svc.recipient_states" as known
    (queue, recipient, restricted, rate_limit, rate_seconds, max_in_flight, ordered)
  values (queue_name, recipient_name, true, rate, per_seconds, at_a_time, in_order)
  on conflict (queue, recipient) do update
    set restricted = true, rate_limit = excluded.rate_limit, rate_seconds = excluded.rate_seconds,
        max_in_flight = excluded.max_in_flight, ordered = excluded.ordered, changed_by = pg_current_xact_id();
end
$$;

-- The jobs for the recipient go on as those for any other.
create function svc."__svc.lift_restrictions"(queue_name text, recipient_name text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update svc."__svc.recipient_states" as known
     set restricted = false, rate_limit = null, rate_seconds = null, max_in_flight = null,
         ordered = false, changed_by = pg_current_xact_id()
   where known.queue = queue_name and known.recipient = recipient_name and known.restricted;
  delete from svc."__svc.attempt_permits" as permitted
   where permitted.queue = queue_name and permitted.recipient = recipient_name;
end
$$;

-- What this role has made belongs to the owner of the tables from now on. Logins may come and go: a
-- login that owns a table cannot be dropped, and the owner could not alter that table.
create function svc."__svc.hand_over"() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  owner oid := (select relowner from pg_class where oid = 'svc."__svc.migrations"'::regclass);
  maker oid := (select oid from pg_roles where rolname = current_user);
  made text;
begin
  if owner = maker then return; end if;
  -- Processes that boot together take turns.
  perform pg_advisory_xact_lock(7763006);
  for made in
    with schema as (
      select oid, nspname, nspowner from pg_namespace where nspname in ('svc', 'svc_jobs')
    )
    select format('schema %I', nspname) from schema where nspowner = maker
    union all
    -- Indexes follow their table, and sequences of a column as well.
    select format('table %I.%I', nspname, relname)
      from schema join pg_class on relnamespace = schema.oid
     where relowner = maker and relkind in ('r', 'p', 'v', 'm')
    union all
    select format('routine %s', pg_proc.oid::regprocedure)
      from schema join pg_proc on pronamespace = schema.oid
     where proowner = maker
    union all
    select format('type %I.%I', nspname, typname)
      from schema join pg_type on typnamespace = schema.oid
     where typowner = maker and typtype in ('d', 'e')
  loop
    begin
      execute format('alter %s owner to %I', made, pg_get_userbyid(owner));
    exception when insufficient_privilege then
      -- The role is no member of the owner, or the owner may make nothing in the schema: it stays, and works.
      null;
    end;
  end loop;
end
$$;
