-- Which portion of usage each process has written last: one that it sends again, since it got no
-- answer, is counted once.
create table svc."__svc.auth.usage_writers" (
  writer uuid primary key,
  portion bigint not null,
  written_at timestamptz not null default now()
) with (fillfactor = 50);
