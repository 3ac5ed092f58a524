-- A webhook that changes gets another version, which a publish returns with its jobs: see
-- outbound/delivery/known-webhooks.ts. A trigger, since hosts of an older version change webhooks too.
create function svc."__svc.webhooks.raise_version"() returns trigger
language plpgsql as $$
begin
  update svc."__svc.targets" set version = gen_random_uuid() where target = old.id;
  return null;
end
$$;

-- Every column that is read for a delivery, see tables/webhooks-for-delivery.ts. The time of the last
-- success or failure is none of them: attempts write it every few seconds.
create trigger raise_version after update on svc."__svc.webhooks.registrations"
  for each row when (
    (old.url, old.active, old.secret, old.previous_secret, old.previous_secret_expires_at,
     old.headers, old.timeout_ms, old.transform, old.retry, old.rate_limit, old.max_in_flight,
     old.ordered, old.failing_since is null)
    is distinct from
    (new.url, new.active, new.secret, new.previous_secret, new.previous_secret_expires_at,
     new.headers, new.timeout_ms, new.transform, new.retry, new.rate_limit, new.max_in_flight,
     new.ordered, new.failing_since is null))
  execute function svc."__svc.webhooks.raise_version"();

create trigger raise_version_of_deleted after delete on svc."__svc.webhooks.registrations"
  for each row execute function svc."__svc.webhooks.raise_version"();
