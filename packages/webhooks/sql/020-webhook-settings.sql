-- Settings of a webhook, and what is known of its health. Each column is null or has a constant
-- default: no row is rewritten, and a host of an older version goes on inserting without them.
alter table svc."__svc.webhooks.registrations"
  add column description text,
  add column metadata jsonb,
  add column filter jsonb,
  -- Names and values of the headers that its deliveries have besides ours. The values are secrets.
  add column headers jsonb,
  add column timeout_ms integer,
  add column retry jsonb,
  add column rate_limit jsonb,
  add column max_in_flight integer,
  add column ordered boolean not null default false,
  add column transform text,
  -- Set where we deactivated it, and not an operator.
  add column disabled_at timestamptz,
  add column disabled_reason text,
  add column failing_since timestamptz,
  add column last_success_at timestamptz,
  add column last_failure_at timestamptz;
