-- The portion of usage that each process has written last. A portion that is sent again, because
-- the answer was lost, is counted once.
create table svc."__svc.auth.usage_writers" (
  writer uuid primary key,
  portion bigint not null,
  written_at timestamptz not null default now()
) with (fillfactor = 50);
