-- Limits and order of webhooks were stored without effect. From now on they hold.
insert into svc."__svc.job_groups"
  (queue, group_id, restricted, rate_limit, rate_seconds, max_in_flight, ordered, unparked_since)
select '__svc.webhooks.deliver', id::text, true, (rate_limit ->> 'limit')::integer,
       (rate_limit ->> 'perSeconds')::integer, max_in_flight, ordered, clock_timestamp()
  from svc."__svc.webhooks.registrations"
 where ordered or rate_limit is not null or max_in_flight is not null
on conflict (queue, group_id) do update
  set restricted = true, rate_limit = excluded.rate_limit, rate_seconds = excluded.rate_seconds,
      max_in_flight = excluded.max_in_flight, ordered = excluded.ordered,
      unparked_since = excluded.unparked_since;
