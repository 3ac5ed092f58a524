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

-- Of the text of a key only the SHA-256 is stored: a reader of this table cannot use the keys.
create table svc."__svc.auth.api_keys" (
  id uuid primary key,
  -- No foreign key: the revoked rows of a deleted user stay, to show whose keys they were.
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

-- One row, which every change of keys raises in its own transaction. The lock on it puts the commits
-- in order: a process that has read a number has missed no change below it.
-- `dropped` are the hashes of the keys that were changed last, newest last. A process forgets those
-- since its last reading, and all keys where the list does not reach back that far.
create table svc."__svc.auth.epoch" (
  is_only boolean primary key default true check (is_only),
  epoch bigint not null default 0,
  dropped text[] not null default '{}'
);

insert into svc."__svc.auth.epoch" default values;

-- A trigger, so that every statement that revokes a key is recorded, also one typed into psql. An
-- insert needs none: no process can remember a key that did not exist.
create function svc."__svc.auth.tell_changed_keys"() returns trigger language plpgsql as $$
declare
  changed text[];
begin
  if tg_op = 'UPDATE' then
    select array_agg(was.key_hash) into changed
      from was join now using (id)
     where (was.key_hash, was.user_id, was.scopes, was.expires_at, was.revoked_at)
        is distinct from (now.key_hash, now.user_id, now.scopes, now.expires_at, now.revoked_at);
  else
    select array_agg(was.key_hash) into changed from was;
  end if;
  if changed is not null then
    update svc."__svc.auth.epoch"
       set epoch = epoch + cardinality(changed),
           dropped = (dropped || changed)
             [greatest(1, cardinality(dropped) + cardinality(changed) - 255):];
    perform pg_notify('__svc.auth.keys_changed', '');
  end if;
  return null;
end
$$;

create trigger tell_updated after update on svc."__svc.auth.api_keys"
  referencing old table as was new table as now
  for each statement execute function svc."__svc.auth.tell_changed_keys"();

create trigger tell_deleted after delete on svc."__svc.auth.api_keys"
  referencing old table as was
  for each statement execute function svc."__svc.auth.tell_changed_keys"();
