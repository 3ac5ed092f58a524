-- The events of a request as determined when it came, which a replay publishes: the stored headers
-- are masked, so they cannot all be computed again. Rows of hosts of an older version have null
-- here.
alter table svc."__svc.webhooks.inbound_log"
  -- Whether the source's `verify` had let it through.
  add column verified boolean,
  -- Only where the host keeps raw bodies. JSON as text: a sender may put a NUL into a parameter, which
  -- jsonb does not take.
  add column event_names text,
  add column request_parts text;
