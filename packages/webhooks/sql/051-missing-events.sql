-- What a recovery of missing deliveries has still to make, in the order of the publishes.
create table svc."__svc.webhooks.missing_events" (
  recovery_id uuid not null references svc."__svc.recoveries" on delete cascade,
  n bigint not null,
  event text collate "C" not null,
  event_id text collate "C" not null,
  primary key (recovery_id, n)
);
