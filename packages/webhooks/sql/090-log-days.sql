-- As the tables of 090-owners-and-identities.sql of the core. A partition has an identity of its own.
alter table svc."__svc.webhooks.recent_attempts" replica identity full;
alter table svc."__svc.webhooks.delivery_log" replica identity full;

do $$
declare
  partition regclass;
begin
  for partition in
    select inhrelid from pg_inherits where inhparent = 'svc."__svc.webhooks.delivery_log"'::regclass
  loop
    execute format('alter table %s replica identity full', partition);
  end loop;
end
$$;

-- Makes the partitions of today and of the days that follow, where they are not there yet. No setting of
-- a session changes their names.
create or replace function svc."__svc.webhooks.make_log_days"(days_ahead integer) returns void
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
    name := '__svc.webhooks.delivery_log.' || to_char(day::timestamp, 'YYYY-MM-DD');
    continue when to_regclass(format('svc.%I', name)) is not null;
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
      svc."__svc.webhooks.first_id"(day), svc."__svc.webhooks.first_id"(day + 1), name);
    execute format(
      'alter table svc."__svc.webhooks.delivery_log" attach partition svc.%I for values from (%L) to (%L)',
      name, svc."__svc.webhooks.first_id"(day), svc."__svc.webhooks.first_id"(day + 1));
  end loop;
  perform svc."__svc.hand_over"();
end
$$;

-- Drops the days that are older than what is kept.
create or replace function svc."__svc.webhooks.drop_log_days"(days_kept integer) returns void
language plpgsql as $$
declare
  oldest date := (now() at time zone 'utc')::date - days_kept;
  name text;
begin
  perform pg_advisory_xact_lock(7763002);
  for name in
    select relname from pg_inherits
      join pg_class on pg_class.oid = inhrelid
     where inhparent = 'svc."__svc.webhooks.delivery_log"'::regclass
       -- In a `case`, since nothing else says which condition is looked at first.
       and case when relname ~ '[.][0-9]{4}-[0-9]{2}-[0-9]{2}$'
                then to_date(right(relname, 10), 'YYYY-MM-DD') < oldest end
  loop
    execute format('drop table svc.%I', name);
  end loop;
  delete from svc."__svc.webhooks.delivery_log.rest"
   where id < svc."__svc.webhooks.first_id"(oldest);
end
$$;
