-- Statistics. A settle writes a narrow row for each attempt, in the statement that writes the log: no
-- index, no row that others write too, so processes do not wait for each other. A task counts these
-- rows into the table of statistics and deletes them in one transaction; who reads adds those that
-- are left. A host of an older version writes none.
create table svc."__svc.webhooks.recent_attempts" (
  at timestamptz not null,
  webhook_id uuid not null,
  tenant text collate "C",
  event text collate "C" not null,
  status text collate "C" not null,
  duration_ms integer,
  -- From the publish to the attempt, of first attempts.
  first_attempt_ms integer
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

create table svc."__svc.webhooks.stats" (
  -- Minutes become hours after days, and hours days.
  period text collate "C" not null check (period in ('minute', 'hour', 'day')),
  at timestamptz not null,
  webhook_id uuid not null,
  event text collate "C" not null,
  tenant text collate "C",
  delivered integer not null,
  failed integer not null,
  skipped integer not null,
  dead integer not null,
  -- The counts of each bucket, whose bounds are in duration-buckets.ts.
  durations integer[] not null,
  first_attempts integer[] not null,
  primary key (period, at, webhook_id, event)
);

create index on svc."__svc.webhooks.stats" (webhook_id, period, at);
create index on svc."__svc.webhooks.stats" (tenant, period, at) where tenant is not null;
