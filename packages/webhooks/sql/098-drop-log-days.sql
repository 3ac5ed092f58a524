-- Drops the oldest days that are not kept any more, a month of them at most: the locks of a transaction are
-- few, also where the log was kept for years. Returns how many.
drop function svc."__svc.webhooks.drop_log_days"(integer);

create function svc."__svc.webhooks.drop_log_days"(days_kept integer) returns integer
language plpgsql as $$
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
   where id < svc."__svc.webhooks.first_id"(oldest);
  return dropped;
end
$$;
