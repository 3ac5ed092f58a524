-- The statistics of all webhooks and events together, of each tenant and of all: a page of a host with many
-- webhooks reads these few rows. They are rolled up with the others.
create table svc."__svc.webhooks.stats_totals" (
  -- A tenant; '' for what has none, '*' for all.
  scope text collate "C" not null,
  period text collate "C" not null check (period in ('minute', 'hour', 'day')),
  at timestamptz not null,
  -- Whether these are events about keys, which not every caller may see.
  of_keys boolean not null,
  delivered integer not null,
  failed integer not null,
  skipped integer not null,
  dead integer not null,
  durations integer[] not null,
  first_attempts integer[] not null,
  primary key (scope, period, at, of_keys)
);

-- The webhooks that a list by their state shows: those that are disabled, or paused.
create index inactive_webhooks on svc."__svc.webhooks.registrations" (id) where not active;
