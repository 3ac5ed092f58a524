-- What decides whether a failing webhook is disabled, and when it is probed.
alter table svc."__svc.webhooks.registrations"
  -- Since `failing_since`.
  add column failed_attempts integer not null default 0,
  -- When `svc.webhook.failing` was published for this run of failures.
  add column warned_at timestamptz,
  -- Of a disabled webhook: no probe before this moment.
  add column probe_after timestamptz;

-- The few rows that the periodic tasks read.
create index failing_webhooks on svc."__svc.webhooks.registrations" (id)
  where failing_since is not null or disabled_reason = 'failing';
