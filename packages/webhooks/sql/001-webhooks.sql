-- What the outbound half keeps in the schema `svc`. The names carry dots, so they are always quoted.

create table svc."__svc.webhooks.registrations" (
  id uuid primary key,
  url text not null,
  events text[] not null,
  label text,
  active boolean not null default true,
  secret text not null,
  -- After a rotation the old secret signs along until it expires.
  previous_secret text,
  previous_secret_expires_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- One row is one attempt. The ids are UUIDv7, which begin with the time: the table is partitioned
-- by them, a day (UTC) each, so that old days are dropped whole, and a page of the newest rows of a
-- webhook is a walk along one index of one or few partitions.
create table svc."__svc.webhooks.delivery_log" (
  id uuid not null,
  webhook_id uuid not null,
  event text collate "C" not null,
  -- The payload stands in the event; here only where no event made the delivery.
  event_id text collate "C",
  payload text,
  delivery_id uuid not null,
  attempt integer not null,
  status text not null check (status in ('delivered', 'failed', 'dead', 'skipped')),
  status_code smallint,
  error text,
  duration_ms integer,
  response_body text,
  attempted_at timestamptz not null,
  next_attempt_at timestamptz
) partition by range (id);

create index on svc."__svc.webhooks.delivery_log" (webhook_id, id);

-- Most rows are deliveries that succeeded: the others are found without stepping over those.
create index on svc."__svc.webhooks.delivery_log" (webhook_id, id) where status <> 'delivered';

create index on svc."__svc.webhooks.delivery_log" (delivery_id);

-- Takes what no day has been made for: no row is ever refused.
create table svc."__svc.webhooks.delivery_log.rest"
  partition of svc."__svc.webhooks.delivery_log" default;

-- The smallest UUIDv7 of a day.
create function svc."__svc.webhooks.first_id"(day date) returns uuid
language sql immutable as $$
  select (lpad(to_hex((extract(epoch from day) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Makes the partitions of today and of the days that follow, where they are not there yet.
create function svc."__svc.webhooks.make_log_days"(days_ahead integer) returns void
language plpgsql as $$
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
$$;

-- Drops the days that are older than what is kept.
create function svc."__svc.webhooks.drop_log_days"(days_kept integer) returns void
language plpgsql as $$
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
$$;
