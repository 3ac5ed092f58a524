-- Inbound requests: what came, and what became of it. The ids are UUIDv7, which begin with the time: a
-- page of the newest rows is a walk along an index, and old rows are a range of the primary key.
create table svc."__svc.webhooks.inbound_log" (
  id uuid primary key,
  source text collate "C" not null,
  tenant text collate "C",
  outcome text not null check (outcome in ('accepted', 'duplicate', 'refused', 'failed')),
  reason text,
  event text collate "C",
  event_id text collate "C",
  ip text,
  bytes integer not null,
  duration_ms integer not null,
  -- Only where the host keeps raw bodies.
  url text,
  headers text,
  body bytea
);

create index on svc."__svc.webhooks.inbound_log" (source, id);

create index on svc."__svc.webhooks.inbound_log" (tenant, id) where tenant is not null;

-- Most requests are accepted: the others are found without stepping over those.
create index on svc."__svc.webhooks.inbound_log" (outcome, id) where outcome <> 'accepted';
