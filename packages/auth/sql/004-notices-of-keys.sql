-- Which events about the age of keys were published. The row is written in the transaction of the
-- event, so that of several processes one publishes it.
create table svc."__svc.auth.key_notices" (
  key_id uuid not null,
  -- 'expiring:7', 'expired', or 'unused:' and the time of the last use.
  notice text collate "C" not null,
  published_at timestamptz not null default now(),
  primary key (key_id, notice)
);

create index on svc."__svc.auth.key_notices" (published_at);

-- The keys that have an end, by it.
create index on svc."__svc.auth.api_keys" (expires_at)
  where expires_at is not null and revoked_at is null;
