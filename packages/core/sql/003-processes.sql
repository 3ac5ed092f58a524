-- One row for each process that runs a host. A process renews its row while it lives and marks it
-- at close; a row that is not renewed for half a minute has lapsed.
create table svc."__svc.processes" (
  id uuid primary key,
  started_at timestamptz not null default now(),
  renewed_at timestamptz not null default now(),
  closed_at timestamptz,
  -- What the process lives by: { events: { subscription: [event, …] }, days: { setting: number } }.
  declares jsonb not null
)
-- Renewed every few seconds: room on the page for the new version of a row.
with (fillfactor = 50);
