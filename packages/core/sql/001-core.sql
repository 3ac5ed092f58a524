-- What core keeps in the schema `svc`. The names carry dots, so they are always quoted.

-- An event, once, whatever the number of its subscribers: their jobs only point at it.
-- The payload is the JSON text that was published, kept as text so that numbers, the order of
-- keys and Unicode come out as they went in.
create table svc."__svc.events" (
  name text collate "C" not null,
  id text collate "C" not null,
  payload text not null,
  published_at timestamptz not null default now(),
  -- This key is what makes a publish idempotent.
  primary key (name, id)
);

create index on svc."__svc.events" using brin (published_at);

-- Who wants which event. Read by every publish in every process, so that a process that only
-- publishes queues the same jobs as any other. With `targeted` the event fans out: one job for
-- each of its targets, else one job for the subscription.
create table svc."__svc.subscriptions" (
  event_name text collate "C" not null,
  subscription text collate "C" not null,
  queue text not null,
  idempotent boolean not null default true,
  targeted boolean not null default false,
  primary key (event_name, subscription)
);

create index on svc."__svc.subscriptions" (subscription);

-- The targets of the subscriptions that fan out; the event name '*' stands for every event of
-- the subscription.
create table svc."__svc.targets" (
  subscription text collate "C" not null,
  event_name text collate "C" not null,
  target uuid not null,
  primary key (subscription, event_name, target)
);

create index on svc."__svc.targets" (target);

-- Durable on purpose: a deduplication key that a crash forgets lets an event through twice.
create table svc."__svc.kv" (
  key text collate "C" primary key,
  value jsonb not null,
  expires_at timestamptz
);

create index on svc."__svc.kv" (expires_at) where expires_at is not null;
