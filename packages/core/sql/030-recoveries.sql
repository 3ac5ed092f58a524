-- Work that puts deliveries of one group back on their way, in portions and at a pace: see
-- recoveries-table.ts. In a table of its own, since a host of an older version would misread such
-- rows in "__svc.job_moves".
create table svc."__svc.recoveries" (
  -- A UUIDv7: newest first is a sort by id.
  id uuid primary key,
  queue text collate "C" not null,
  group_id text collate "C" not null,
  -- 'dead': dead letters. 'failed': jobs that wait for their next attempt. 'missing': what the
  -- worker of the queue determines.
  what text not null check (what in ('dead', 'failed', 'missing')),
  since timestamptz not null,
  until timestamptz not null,
  per_second integer,
  -- How many there are in all; null until they are counted.
  deliveries integer,
  done integer not null default 0,
  -- When the next portion may follow.
  next_at timestamptz not null default now(),
  -- They are counted when all transactions with a smaller number have ended.
  after_transaction xid8,
  created_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz
);

create index on svc."__svc.recoveries" (queue, next_at) where finished_at is null;
create index on svc."__svc.recoveries" (queue, group_id, id);
