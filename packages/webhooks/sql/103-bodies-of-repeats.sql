-- The row of a repeat has neither headers nor body: the first request has them, and whoever has
-- captured one signed request could fill the disk with its repeats.
create or replace function svc."__svc.webhooks.log_inbound"(
  -- Which of the events are new, from 1.
  created int[],
  -- The events of the statement. All other arrays have an element for each of them, or are null.
  payloads text[],
  payloads_are_bodies boolean[],
  -- Null where the event has no row. A row whose event is not new is that of a repeat.
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
         r.duration_ms + statement_ms, r.url, case when publish.is_new then r.headers end,
         case when not publish.is_new then null
              when r.payload_is_body then convert_to(r.payload, 'UTF8')
              else r.body end,
         r.verified, case when publish.is_new then r.event_names end,
         case when publish.is_new then r.request_parts end
    from unnest(payloads, payloads_are_bodies, ids, sources, tenants, outcomes, reasons, events,
                event_ids, ips, bytes, durations_ms, urls, headers, bodies, verified, event_names,
                request_parts) with ordinality
           as r (payload, payload_is_body, id, source, tenant, outcome, reason, event, event_id, ip,
                 bytes, duration_ms, url, headers, body, verified, event_names, request_parts, number)
   cross join lateral (select r.number = any(created) as is_new) as publish
   where r.id is not null;
end
$$;
