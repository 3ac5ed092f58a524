-- As 084-ids-before-1970.sql of the core: a retention that reached back so far deleted the whole log.
create or replace function svc."__svc.webhooks.first_id"(day date) returns uuid
language sql immutable as $$
  select (lpad(to_hex(case when day < 'epoch' then 0
                           else (extract(epoch from day) * 1000)::bigint end), 12, '0')
          || repeat('0', 20))::uuid
$$;
