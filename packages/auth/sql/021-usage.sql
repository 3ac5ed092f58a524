-- How often keys were used, by the hour and by what came of it. Processes write it in batches.
create table svc."__svc.auth.usage" (
  key_id uuid not null,
  hour timestamptz not null,
  -- That of the key when the row was written.
  tenant text collate "C",
  allowed bigint not null,
  rate_limited bigint not null,
  quota_exceeded bigint not null,
  forbidden bigint not null,
  expired bigint not null,
  primary key (key_id, hour)
) with (fillfactor = 70);

create index on svc."__svc.auth.usage" (hour);
create index on svc."__svc.auth.usage" (tenant, hour);
