-- What svcAuth keeps in the schema `svc`. The names carry dots, so they are always quoted.

create table svc."__svc.auth.users" (
  id uuid primary key,
  email text not null,
  name text not null,
  role text not null,
  created_at timestamptz not null default now()
);

-- Two people do not share a mailbox because one of them writes it in capitals.
create unique index on svc."__svc.auth.users" (lower(email));

-- A key is kept as the SHA-256 of its text alone: who reads this table can use none of them.
create table svc."__svc.auth.api_keys" (
  id uuid primary key,
  -- No foreign key: the rows of a deleted user stay, revoked, to tell whose key it was.
  user_id uuid not null,
  key_hash text collate "C" not null unique check (key_hash ~ '^[0-9a-f]{64}$'),
  key_prefix text collate "C" not null check (length(key_prefix) <= 8),
  label text,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);

create index on svc."__svc.auth.api_keys" (user_id, id desc);

-- One row, which every revocation raises in its own transaction: the lock on it puts the commits in
-- order, so that a process that has seen a number has missed nothing below it.
-- `dropped` are the hashes of the keys that were revoked last, newest last: what nobody may remember
-- any more.
create table svc."__svc.auth.epoch" (
  is_only boolean primary key default true check (is_only),
  epoch bigint not null default 0,
  dropped text[] not null default '{}'
);

insert into svc."__svc.auth.epoch" default values;
