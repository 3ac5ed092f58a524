-- What svcAuth keeps in the schema `svc`. The names carry dots, so they are always quoted.

create table svc."__svc.auth.users" (
  id uuid primary key,
  -- Null for the operator's.
  tenant text collate "C" check (tenant ~ '^[A-Za-z0-9_.:-]{1,64}$'),
  email text not null,
  name text not null,
  role text not null,
  created_at timestamptz not null default now(),
  -- What it is found by.
  words tsvector generated always as (svc."__svc.search_words"(name || ' ' || email)) stored
);

-- Two people do not share a mailbox because one of them writes it in capitals. An address is ASCII, and
-- the collation "C" compares it alike in every database: in a Turkish one lower('I') is 'ı'.
create unique index on svc."__svc.auth.users" (lower(email collate "C")) where tenant is null;
create unique index on svc."__svc.auth.users" (tenant, lower(email collate "C")) where tenant is not null;

create index on svc."__svc.auth.users" (tenant, id desc);
create index users_search on svc."__svc.auth.users" using gin (words);

-- Of the text of a key only the SHA-256 is stored: a reader of this table cannot use the keys.
create table svc."__svc.auth.api_keys" (
  id uuid primary key,
  -- No foreign key: the revoked rows of a deleted user stay, to show whose keys they were.
  user_id uuid not null,
  -- That of its user, which a trigger writes.
  tenant text collate "C",
  -- Null until the first use of a key that was imported by another system's hash.
  key_hash text collate "C" unique check (key_hash ~ '^[0-9a-f]{64}$'),
  -- Of an imported key: the SHA-256 of what another system has made of its text. It opens the key until
  -- `key_hash` is known. After that it only shows that the key was imported.
  foreign_hash text collate "C" check (foreign_hash ~ '^[0-9a-f]{64}$'),
  key_prefix text collate "C" not null check (length(key_prefix) <= 8),
  label text,
  scopes text[] not null,
  metadata jsonb,
  -- While it is false the key is refused as a revoked one is.
  enabled boolean not null default true,
  -- The networks (CIDRs) that requests with the key may come from; null for all.
  allowed_ips text[],
  -- [{ "limit": 100, "perSeconds": 60 }]
  limits jsonb,
  -- { "limit": 10000, "period": "month" }
  quota jsonb,
  -- What restricts the key by the word of those who may loosen it: { expiresAt, allowedIps, limits, quota,
  -- enabled }. A session of the console without a key of its own changes these fields within that alone,
  -- and may take back what it has tightened itself. Null: the columns themselves.
  bounds jsonb,
  -- The key that this one was rotated from, or that one's: they share what is used up. Null: its own.
  allowances_of uuid,
  replaces uuid,
  replaced_by uuid,
  created_at timestamptz not null default now(),
  -- When it came from another system; its successors have it too. Such keys count for no limit on numbers.
  imported_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  -- What was published about its end: that so many days are left, or 0 once it has expired. The column is
  -- written in the transaction of the event, so that of several processes one publishes it.
  expiry_notice integer,
  -- The last use, or the creation, that an event says the key was unused since.
  unused_notice_of timestamptz,
  -- What it is found by.
  words tsvector generated always as (svc."__svc.search_words"(label)) stored,
  check (key_hash is not null or foreign_hash is not null)
);

create unique index on svc."__svc.auth.api_keys" (foreign_hash) where foreign_hash is not null;
create index on svc."__svc.auth.api_keys" (user_id, id desc);
create index on svc."__svc.auth.api_keys" (tenant, id desc);
create index on svc."__svc.auth.api_keys" (key_prefix, id desc);
create index api_keys_search on svc."__svc.auth.api_keys" using gin (words);
-- The keys whose expiry is still to be published, by `expires_at`. The expiry of a key is not published if it
-- was before the row was made, as it can be with a restore.
create index on svc."__svc.auth.api_keys" (expires_at)
  where expires_at > created_at and revoked_at is null and expiry_notice is distinct from 0;
-- For lists of keys by their state: few are revoked, disabled or expire, of however many.
create index api_keys_revoked on svc."__svc.auth.api_keys" (id desc) where revoked_at is not null;
create index api_keys_disabled on svc."__svc.auth.api_keys" (id desc) where not enabled;
create index api_keys_expiring on svc."__svc.auth.api_keys" (id desc) where expires_at is not null;

-- One row, which every change of keys and of the plan of a tenant raises in its own transaction. The lock on
-- it puts the commits in order: a process that has read a number has missed no change below it.
-- `dropped` are the hashes of the keys that were changed last, and `plan:<tenant>`, newest last. A process
-- forgets those since its last reading, and everything where the list does not reach back that far, or where
-- what it read last is undone, by a failover or a crash. `marks` tell that: a random one for each of `dropped`.
create table svc."__svc.auth.epoch" (
  is_only boolean primary key default true check (is_only),
  epoch bigint not null default 0,
  dropped text[] not null default '{}',
  marks float8[] not null default '{}'
);

insert into svc."__svc.auth.epoch" default values;

-- Prefixes of keys with failed attempts. Processes poll for changes: one finds what was committed since the
-- snapshot of its last poll.
create table svc."__svc.auth.failing_prefixes" (
  prefix text collate "C" primary key,
  -- When attempts failed in the window; none while the prefix is blocked.
  failures timestamptz[] not null,
  -- The attempt that led to the block.
  blocked_by uuid,
  -- The end of the block, or the time at which the last failure leaves the window.
  expires_at timestamptz not null,
  changed_in xid8 not null
);

create index on svc."__svc.auth.failing_prefixes" (changed_in);
create index on svc."__svc.auth.failing_prefixes" (expires_at);

-- Limits and quotas of keys. A process takes allowances from here in portions, ahead of need; see
-- docs/limits.md for the bounds that this keeps.

-- What was allotted in the last window of one limit of a key or a tenant.
create table svc."__svc.auth.windows" (
  subject text collate "C" not null,
  per_seconds integer not null,
  -- When allowances count from, in ms since 1970, and how many.
  allotted_at float8[] not null default '{}',
  allotted integer[] not null default '{}',
  -- The processes that hold some ahead of need, how many at most, and until when.
  holders uuid[] not null default '{}',
  held integer[] not null default '{}',
  held_until float8[] not null default '{}',
  -- The row means nothing after that. Rounded to hours: an update that changes no index is cheap.
  unused_after timestamptz not null,
  primary key (subject, per_seconds)
) with (fillfactor = 70);

create index on svc."__svc.auth.windows" (unused_after);

-- What was allotted of a quota in its period.
create table svc."__svc.auth.quotas" (
  subject text collate "C" not null,
  period text collate "C" not null check (period in ('day', 'month', 'total')),
  period_start timestamptz not null,
  allotted bigint not null,
  primary key (subject, period)
) with (fillfactor = 70);

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

-- The portion of usage that each process has written last. A portion that is sent again, because
-- the answer did not arrive, is counted once.
create table svc."__svc.auth.usage_writers" (
  writer uuid primary key,
  portion bigint not null,
  written_at timestamptz not null default now()
) with (fillfactor = 50);
