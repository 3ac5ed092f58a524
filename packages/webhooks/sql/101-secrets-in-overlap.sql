-- All secrets of a webhook that are still valid after rotations: [{ "secret", "expiresAt" }], newest first.
drop trigger raise_version on svc."__svc.webhooks.registrations";

alter table svc."__svc.webhooks.registrations"
  drop column previous_secret,
  drop column previous_secret_expires_at,
  add column previous_secrets jsonb;

create trigger raise_version after update on svc."__svc.webhooks.registrations"
  for each row when (
    (old.url, old.active, old.secret, old.previous_secrets, old.headers, old.timeout_ms, old.transform,
     old.retry, old.rate_limit, old.max_in_flight, old.ordered, old.failing_since is null)
    is distinct from
    (new.url, new.active, new.secret, new.previous_secrets, new.headers, new.timeout_ms, new.transform,
     new.retry, new.rate_limit, new.max_in_flight, new.ordered, new.failing_since is null))
  execute function svc."__svc.webhooks.raise_version"();
