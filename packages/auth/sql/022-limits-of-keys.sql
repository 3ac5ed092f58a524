-- Limits and the quota of a key, and whose allowances it uses.
alter table svc."__svc.auth.api_keys"
  -- [{ "limit": 100, "perSeconds": 60 }]
  add column limits jsonb,
  -- { "limit": 10000, "period": "month" }
  add column quota jsonb,
  -- The key that this one was rotated from, or that one's: they share what is used up. Null: its own.
  add column allowances_of uuid;

-- With what a process remembers of the limits of a key.
create or replace function svc."__svc.auth.tell_changed_keys"() returns trigger language plpgsql as $$
declare
  changed text[];
begin
  if tg_op = 'UPDATE' then
    select array_agg(was.key_hash) into changed
      from was join now using (id)
     where (was.key_hash, was.user_id, was.scopes, was.expires_at, was.revoked_at,
            was.tenant, was.enabled, was.allowed_ips, was.limits, was.quota, was.allowances_of)
        is distinct from (now.key_hash, now.user_id, now.scopes, now.expires_at, now.revoked_at,
                          now.tenant, now.enabled, now.allowed_ips, now.limits, now.quota,
                          now.allowances_of);
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
