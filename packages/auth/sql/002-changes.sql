-- Changes that processes poll for: new keys, and prefixes with failures or a block. A row names the
-- transaction that wrote it, so that a process finds what was committed since the snapshot of its
-- last poll. Other than a sequence this misses no transaction that commits late, and other than the
-- epoch it makes no transaction wait for another.

-- Null in rows that are older than this column.
alter table svc."__svc.auth.api_keys" add column inserted_in xid8;

create index on svc."__svc.auth.api_keys" (inserted_in);

-- A trigger and not a default: a restored dump names the column, with a value of another time.
create function svc."__svc.auth.mark_new_key"() returns trigger language plpgsql as $$
begin
  new.inserted_in := pg_current_xact_id();
  return new;
end
$$;

create trigger mark_inserted before insert or update of key_hash on svc."__svc.auth.api_keys"
  for each row execute function svc."__svc.auth.mark_new_key"();

-- What the counters in svc."__svc.kv" amount to. It is written in the transaction that counts, and
-- read instead of them, so that the guard does not depend on a table of the application.
create table svc."__svc.auth.failing_prefixes" (
  prefix text collate "C" primary key,
  is_blocked boolean not null,
  -- The end of the block, or the time at which the last failure leaves the window.
  expires_at timestamptz not null,
  changed_in xid8 not null
);

create index on svc."__svc.auth.failing_prefixes" (changed_in);
create index on svc."__svc.auth.failing_prefixes" (expires_at);
