-- Makes the partitions of today and of the days that follow, where they are not there yet. No setting of
-- a session changes their names.
create function svc."__svc.webhooks.make_log_days"(days_ahead integer) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  today date := (now() at time zone 'utc')::date;
  day date;
  name text;
  -- The ids of the day: those from the first on, and before the second.
  first_id uuid;
  end_id uuid;
begin
  -- Processes that boot together take turns.
  perform pg_advisory_xact_lock(7763002);
  for step in 0..days_ahead loop
    day := today + step;
    name := '__svc.webhooks.delivery_log.' || to_char(day::timestamp, 'YYYY-MM-DD');
    continue when to_regclass(format('svc.%I', name)) is not null;
    first_id := svc."__svc.first_uuid"(day::timestamp at time zone 'utc');
    end_id := svc."__svc.first_uuid"((day + 1)::timestamp at time zone 'utc');
    -- Made on its own and then attached: `create … partition of` would stop every insert.
    execute format(
      'create table svc.%I (like svc."__svc.webhooks.delivery_log" including constraints)', name);
    execute format('alter table svc.%I replica identity full', name);
    -- What has come for this day already stands in the rest, and moves.
    lock table svc."__svc.webhooks.delivery_log.rest" in access exclusive mode;
    execute format(
      'with strays as (
         delete from svc."__svc.webhooks.delivery_log.rest" where id >= %1$L and id < %2$L returning *
       )
       insert into svc.%3$I select * from strays',
      first_id, end_id, name);
    execute format(
      'alter table svc."__svc.webhooks.delivery_log" attach partition svc.%I for values from (%L) to (%L)',
      name, first_id, end_id);
  end loop;
  perform svc."__svc.hand_over"();
end
$$;

-- Drops the oldest days that are not kept any more, a month of them at most: the locks of a transaction
-- are few, also where the log was kept for years. Returns how many.
create function svc."__svc.webhooks.drop_log_days"(days_kept integer) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  oldest date := (now() at time zone 'utc')::date - days_kept;
  name text;
  dropped integer := 0;
begin
  perform pg_advisory_xact_lock(7763002);
  for name in
    select relname from pg_inherits
      join pg_class on pg_class.oid = inhrelid
     where inhparent = 'svc."__svc.webhooks.delivery_log"'::regclass
       -- In a `case`, since nothing else says which condition is looked at first.
       and case when relname ~ '[.][0-9]{4}-[0-9]{2}-[0-9]{2}$'
                then to_date(right(relname, 10), 'YYYY-MM-DD') < oldest end
     order by relname limit 30
  loop
    execute format('drop table svc.%I', name);
    dropped := dropped + 1;
  end loop;
  delete from svc."__svc.webhooks.delivery_log.rest"
   where id < svc."__svc.first_uuid"(oldest::timestamp at time zone 'utc');
  return dropped;
end
$$;

-- A webhook is restricted in core as its settings say.
create function svc."__svc.webhooks.restrict"() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'DELETE' then
    perform svc."__svc.lift_restrictions"('__svc.webhooks.deliver', old.id::text);
  elsif new.ordered or new.rate_limit is not null or new.max_in_flight is not null then
    perform svc."__svc.restrict_recipient"('__svc.webhooks.deliver', new.id::text,
      (new.rate_limit ->> 'limit')::int, (new.rate_limit ->> 'perSeconds')::int, new.max_in_flight,
      new.ordered);
  else
    perform svc."__svc.lift_restrictions"('__svc.webhooks.deliver', new.id::text);
  end if;
  return null;
end
$$;

create trigger note_tenant after insert on svc."__svc.webhooks.registrations"
  for each row when (new.tenant is not null) execute function svc."__svc.note_tenant"();

create trigger restrict_new after insert on svc."__svc.webhooks.registrations"
  for each row when (new.ordered or new.rate_limit is not null or new.max_in_flight is not null)
  execute function svc."__svc.webhooks.restrict"();

create trigger restrict_changed after update of ordered, rate_limit, max_in_flight
  on svc."__svc.webhooks.registrations"
  for each row when ((old.ordered, old.rate_limit, old.max_in_flight)
                     is distinct from (new.ordered, new.rate_limit, new.max_in_flight))
  execute function svc."__svc.webhooks.restrict"();

-- At the commit: recoveries are locked before the row of their recipient, also where a webhook is deleted.
create constraint trigger lift_deleted after delete on svc."__svc.webhooks.registrations"
  deferrable initially deferred
  for each row when (old.ordered or old.rate_limit is not null or old.max_in_flight is not null)
  execute function svc."__svc.webhooks.restrict"();

-- A webhook that changes gets another version, which a publish returns with its jobs: see
-- outbound/delivery/known-webhooks.ts.
create function svc."__svc.webhooks.raise_version"() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update svc."__svc.recipients" set version = gen_random_uuid() where recipient = old.id;
  return null;
end
$$;

-- Every column that is read for a delivery, see tables/webhooks-for-delivery.ts. The results of
-- its attempts are none of them: they are written every few seconds.
create trigger raise_version after update on svc."__svc.webhooks.registrations"
  for each row when (
    (old.url, old.active, old.paused, old.secret, old.previous_secrets, old.headers, old.timeout_ms, old.transform,
     old.fields, old.retry, old.rate_limit, old.max_in_flight, old.ordered)
    is distinct from
    (new.url, new.active, new.paused, new.secret, new.previous_secrets, new.headers, new.timeout_ms, new.transform,
     new.fields, new.retry, new.rate_limit, new.max_in_flight, new.ordered))
  execute function svc."__svc.webhooks.raise_version"();

create trigger raise_version_of_deleted after delete on svc."__svc.webhooks.registrations"
  for each row execute function svc."__svc.webhooks.raise_version"();

-- What belongs to a recovery is deleted with it.
create function svc."__svc.webhooks.delete_missed_events"() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from svc."__svc.webhooks.missed_events"
   where recovery_id = any(array(select id from deleted));
  return null;
end
$$;

create trigger "__svc.webhooks.delete_missed_events"
  after delete on svc."__svc.work"
  referencing old table as deleted
  for each statement execute function svc."__svc.webhooks.delete_missed_events"();

-- Writes the rows of requests, as a rule in the statement that publishes their events, without their
-- bodies being sent twice: where the payload of an event is the body of its request, the row takes it from
-- there. The row of a repeat has neither headers nor body: the first request has them, and anyone who
-- has captured one signed request could fill the disk with its repeats.
create function svc."__svc.webhooks.log_inbound"(
  -- Of each request: its row, and which of the events are its own, if any. A row none of whose events is
  -- new is that of a repeat.
  rows json,
  -- Which of the events are new, from 1; null: all.
  created int[] default null,
  -- Of the events.
  payloads text[] default '{}'
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  -- The row has how long the request took until the statement was sent.
  statement_ms int :=
    round(1000 * extract(epoch from clock_timestamp() - statement_timestamp()));
begin
  insert into svc."__svc.webhooks.inbound_log"
    (id, source, tenant, outcome, reason, event, event_id, ip, bytes, duration_ms, url, headers, body,
     verified, event_names, request_parts)
  select r.id, r.source, r.tenant, case when publish.is_repeat then 'duplicate' else r.outcome end, r.reason,
         r.events ->> coalesce(publish.first_new - r."firstEvent", 0),
         r."eventIds" ->> (publish.first_new - r."firstEvent"), r.ip, r.bytes,
         r."durationMs" + statement_ms, r.url, case when not publish.is_repeat then r.headers end,
         case when publish.is_repeat then null
              when r."payloadIsBody" then convert_to(payloads[r."firstEvent"], 'UTF8')
              else decode(r.body, 'base64') end,
         r.verified, case when not publish.is_repeat then r."eventNames" end,
         case when not publish.is_repeat then r."requestParts" end
    from json_to_recordset(rows)
           as r ("firstEvent" int, "eventCount" int, id uuid, source text, tenant text, outcome text,
                 reason text, events json, "eventIds" json, ip text, bytes int, "durationMs" int, url text,
                 headers text, body text, "payloadIsBody" boolean, verified boolean, "eventNames" text,
                 "requestParts" text)
   cross join lateral (
     select min(n) as first_new, (r."eventCount" > 0) is true and min(n) is null as is_repeat
       from unnest(coalesce(created, array[r."firstEvent"])) as n
      where n >= r."firstEvent" and n < r."firstEvent" + r."eventCount"
   ) as publish;
end
$$;

-- Writes attempts into the log of deliveries, and what the statistics count of them. The settlement of jobs calls
-- it: then only the rows of jobs that were settled are written, each with the time of the next attempt.
create function svc."__svc.webhooks.record_attempts"(
  -- Null: all rows are written.
  settled uuid[],
  -- Null, or of each job, or null: when its next attempt is.
  next_attempts timestamptz[],
  attempts json
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  with written as materialized (
    select attempt.*, coalesce(next_attempts[array_position(settled, attempt.job)], attempt."nextAttemptAt")
             as next_attempt_at,
           -- The tenant of the webhook. That of a deleted one is kept while rows may follow.
           coalesce(
             webhook.tenant,
             (select tenant from svc."__svc.webhooks.deleted_webhooks" where id = attempt."webhookId"))
             as tenant,
           case when attempt."testedUrl" = webhook.url then attempt.error is null end as succeeded
      from json_to_recordset(attempts) as attempt (
             job uuid, id uuid, "webhookId" uuid, event text, "eventId" text, payload text,
             "deliveryId" uuid, attempt int, status text, "statusCode" smallint, error text,
             "durationMs" int, "responseBody" text, "attemptedAt" timestamptz,
             "nextAttemptAt" timestamptz, url text, "isTest" boolean, "firstAttemptMs" int,
             "testedUrl" text, phases smallint[], address inet, "responseHeaders" text)
      -- Looked up by id, also by a plan that was made while the table was empty.
      left join svc."__svc.webhooks.registrations" as webhook on webhook.id = attempt."webhookId"
     where settled is null or attempt.job = any(settled)
  ), logged as (
    insert into svc."__svc.webhooks.delivery_log"
      (id, webhook_id, event, event_id, payload, delivery_id, attempt, status, status_code, error,
       duration_ms, response_body, attempted_at, next_attempt_at, url, is_test, tenant, phases, address,
       response_headers)
    select id, "webhookId", event, "eventId", payload, "deliveryId", attempt, status, "statusCode", error,
           "durationMs", "responseBody", "attemptedAt", next_attempt_at, url, "isTest", tenant, phases, address,
           "responseHeaders"
      from written
  )
  insert into svc."__svc.webhooks.recent_attempts"
    (at, webhook_id, tenant, event, status, duration_ms, first_attempt_ms, succeeded)
  select "attemptedAt", "webhookId", tenant, event, status, "durationMs", "firstAttemptMs", succeeded
    from written
    -- A test tells of no event: it counts in neither the health of the webhook nor the statistics.
   where "isTest" is not true;
end
$$;

-- What a process reads of a delivery before its attempt, by the data of its job: the webhook, and the event. The
-- payload of a large one is read as its attempt begins.
create function svc."__svc.webhooks.read_delivery"(data json) returns json
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  return json_build_object(
    'webhook', (
      select row_to_json(webhook) from svc."__svc.webhooks.for_delivery" as webhook
       where webhook.id = (data ->> 'recipient')::uuid),
    'event', (
      select json_build_object(
               'payload', case when octet_length(event.payload) <= 65536 then event.payload else '' end,
               'bytes', octet_length(event.payload),
               'publishedAt', extract(epoch from event.published_at)::float8 * 1000,
               'traceContext', event.trace_context)
        from svc."__svc.events" as event
       where event.name = data ->> 'event' and event.id = data ->> 'eventId'));
end
$$;

-- Names in rows of the audit: of a webhook its label, else its URL. A deleted one is named by what the
-- change says of it. A role that may not read the table writes rows without names.
create function svc."__svc.webhooks.name_audit"() returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  select coalesce(label, url) into new.target_name
    from svc."__svc.webhooks.registrations" where id = new.target_id::uuid;
  new.target_name := coalesce(
    new.target_name, new.changes -> 'label' ->> 'from', new.changes -> 'url' ->> 'from');
  return new;
exception
  when insufficient_privilege or undefined_table or invalid_text_representation then return new;
end
$$;

create trigger "__svc.webhooks.name_audit" before insert on svc."__svc.audit"
  for each row when (new.target_kind = 'webhook')
  execute function svc."__svc.webhooks.name_audit"();
