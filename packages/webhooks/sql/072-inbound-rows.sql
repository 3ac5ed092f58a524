-- Writes the rows of requests whose events are published in the same statement. The statement is
-- planned with every publish; what stands in a function is planned once a connection.
create function svc."__svc.webhooks.log_inbound"(
  -- Which of the events are new, from 1.
  created int[],
  -- Of which event each row is. A row without a new event is that of a repeat.
  event_numbers int[],
  ids uuid[],
  sources text[],
  tenants text[],
  outcomes text[],
  reasons text[],
  events text[],
  event_ids text[],
  ips text[],
  bytes int[],
  -- Until the statement was sent; the time that it took is added.
  durations_ms int[],
  urls text[],
  headers text[],
  bodies bytea[],
  verified boolean[],
  event_names text[],
  request_parts text[]
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  statement_ms int :=
    round(1000 * extract(epoch from clock_timestamp() - statement_timestamp()));
begin
  insert into svc."__svc.webhooks.inbound_log"
    (id, source, tenant, outcome, reason, event, event_id, ip, bytes, duration_ms, url, headers, body,
     verified, event_names, request_parts)
  select r.id, r.source, r.tenant, case when publish.is_new then r.outcome else 'duplicate' end,
         r.reason, r.event, case when publish.is_new then r.event_id end, r.ip, r.bytes,
         r.duration_ms + statement_ms, r.url, r.headers, r.body, r.verified, r.event_names,
         r.request_parts
    from unnest(event_numbers, ids, sources, tenants, outcomes, reasons, events, event_ids, ips, bytes,
                durations_ms, urls, headers, bodies, verified, event_names, request_parts)
           as r (number, id, source, tenant, outcome, reason, event, event_id, ip, bytes, duration_ms,
                 url, headers, body, verified, event_names, request_parts)
   cross join lateral (select r.number = any(created) as is_new) as publish;
end
$$;
