-- Tenants of users and their keys, and what keys have besides scopes and an expiry.

-- The index on lower(email) stays as it is, and with it the statement that creates users in a process
-- of an older version. A user of a tenant has its email in `tenant_email`: in `email` it has none, and
-- a unique index takes any number of those.
alter table svc."__svc.auth.users"
  add column tenant text collate "C" check (tenant ~ '^[A-Za-z0-9_.:-]{1,64}$'),
  add column tenant_email text,
  alter column email drop not null,
  add constraint one_email check ((tenant is null) = (email is not null)
                                  and (tenant is null) = (tenant_email is null)) not valid;

create unique index on svc."__svc.auth.users" (tenant, lower(tenant_email))
  where tenant is not null;

create index on svc."__svc.auth.users" (tenant, id desc);

alter table svc."__svc.auth.api_keys"
  -- That of its user, which a trigger writes.
  add column tenant text collate "C",
  -- While it is false the key is refused as a revoked one is.
  add column enabled boolean not null default true,
  add column metadata jsonb,
  -- The networks (CIDRs) that requests with the key may come from; null for all.
  add column allowed_ips text[],
  add column replaces uuid,
  add column replaced_by uuid;

create index on svc."__svc.auth.api_keys" (tenant, id desc);
create index on svc."__svc.auth.api_keys" (key_prefix, id desc);

-- A trigger, so that the keys that a process of an older version makes have their tenant too. In a
-- restore the row of the user may come later: the tenant in the dump stays then.
create function svc."__svc.auth.tenant_of_key"() returns trigger language plpgsql as $$
begin
  new.tenant := coalesce(
    (select users.tenant from svc."__svc.auth.users" as users where users.id = new.user_id),
    new.tenant);
  return new;
end
$$;

create trigger take_tenant before insert on svc."__svc.auth.api_keys"
  for each row execute function svc."__svc.auth.tenant_of_key"();

-- With what a process remembers of a key besides: whether it is enabled, and from where it may come.
create or replace function svc."__svc.auth.tell_changed_keys"() returns trigger language plpgsql as $$
declare
  changed text[];
begin
  if tg_op = 'UPDATE' then
    select array_agg(was.key_hash) into changed
      from was join now using (id)
     where (was.key_hash, was.user_id, was.scopes, was.expires_at, was.revoked_at,
            was.tenant, was.enabled, was.allowed_ips)
        is distinct from (now.key_hash, now.user_id, now.scopes, now.expires_at, now.revoked_at,
                          now.tenant, now.enabled, now.allowed_ips);
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
