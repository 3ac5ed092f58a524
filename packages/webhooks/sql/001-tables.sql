-- What svcWebhooks keeps in the schema `svc`. The names carry dots, so they are always quoted.

create table svc."__svc.webhooks.registrations" (
  id uuid primary key,
  -- A webhook of a tenant gets the events of that tenant; one without a tenant is the operator's.
  tenant text collate "C",
  -- Null: it is only read, by its feed.
  url text,
  events text[] not null,
  label text,
  description text,
  metadata jsonb,
  filter jsonb,
  -- The steps that the filter took for the last event for which it was dear; null where it never was.
  filter_cost integer,
  active boolean not null default true,
  -- Its tenant is paused, see "__svc.pauses": events make deliveries, which wait.
  paused boolean not null default false,
  secret text not null,
  -- After rotations, the secrets that sign along until they expire, newest first:
  -- [{ "secret", "expiresAt" }].
  previous_secrets jsonb,
  -- Names and values of the headers that its deliveries have besides ours. The values are secrets.
  headers jsonb,
  timeout_ms integer,
  retry jsonb,
  rate_limit jsonb,
  max_in_flight integer,
  ordered boolean not null default false,
  transform text,
  -- A list of paths of the payload that its deliveries carry; null: all of it.
  fields jsonb,
  -- Set where we deactivated it, and not an operator.
  disabled_at timestamptz,
  disabled_reason text,
  -- What decides whether a failing webhook is disabled, and when it is probed.
  failing_since timestamptz,
  -- Since `failing_since`.
  failed_attempts integer not null default 0,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  -- When `svc.webhook.failing` was published for this run of failures.
  warned_at timestamptz,
  -- Of a disabled webhook: no probe before this moment.
  probe_after timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- What it is found by.
  words tsvector generated always as (svc."__svc.search_words"(coalesce(label, '') || ' ' || coalesce(url, ''))) stored
);

-- Lists of one tenant, newest first, and their number.
create index on svc."__svc.webhooks.registrations" (tenant, id) where tenant is not null;
create index webhooks_search on svc."__svc.webhooks.registrations"
  using gin (words);

-- What a process reads of a webhook to deliver to it. A change of any of it raises the version of the webhook: the
-- trigger "raise_version" names the columns. What is JSON comes as text.
create view svc."__svc.webhooks.for_delivery" as
  select id, url, active, paused, tenant is null as "isOperators", secret,
         -- The secrets before the last rotations that deliveries are signed with as well, newest first.
         case when previous_secrets is not null then (
           select json_agg(previous.one ->> 'secret' order by previous.n)::text
             from jsonb_array_elements(previous_secrets) with ordinality as previous (one, n)
            where (previous.one ->> 'expiresAt')::timestamptz > now()) end as "previousSecrets",
         headers::text as headers, timeout_ms as "timeoutMs", transform, fields::text as fields, retry::text as retry,
         ordered or rate_limit is not null or max_in_flight is not null as "isRestricted"
    from svc."__svc.webhooks.registrations";

-- The few rows that the periodic tasks read.
create index failing_webhooks on svc."__svc.webhooks.registrations" (id)
  where failing_since is not null or disabled_reason = 'failing';

-- What a list by state shows: those that are disabled, or paused.
create index inactive_webhooks on svc."__svc.webhooks.registrations" (id) where not active;

-- Of which tenant a deleted webhook was: rows are still written for its waiting deliveries.
create table svc."__svc.webhooks.deleted_webhooks" (
  id uuid primary key,
  tenant text collate "C" not null,
  deleted_at timestamptz not null default now()
);

-- The id of an event as its publish gave it; see event-id.ts.
create function svc."__svc.webhooks.published_id"(event_id text) returns text
language sql immutable parallel safe
return substr(event_id, strpos(event_id, E'\x1f') + 1);

-- One row is one attempt. The ids are UUIDv7, which begin with the time: the table is partitioned
-- by them, a day (UTC) each, so that old days are dropped whole, and a page of the newest rows of a
-- webhook is a walk along one index of one or few partitions.
create table svc."__svc.webhooks.delivery_log" (
  id uuid not null,
  webhook_id uuid not null,
  -- That of its webhook.
  tenant text collate "C",
  event text collate "C" not null,
  -- The payload of an event is a column of the event. `payload` is set where no event made the delivery.
  event_id text collate "C",
  payload text,
  delivery_id uuid not null,
  attempt integer not null,
  -- Where that is not the webhook's.
  url text,
  -- 'delivered', 'failed', 'dead' or 'skipped'. Not a check: each insert statement would read its text anew.
  status text not null,
  status_code smallint,
  error text,
  duration_ms integer,
  response_body text,
  attempted_at timestamptz not null,
  next_attempt_at timestamptz,
  -- A test is marked as one again where it is repeated from the log.
  is_test boolean,
  -- Of an attempt that made a connection, or failed: how long the steps took, see attempt-record.ts, and which
  -- address it went to. A delivery that succeeds on a connection that was kept has neither.
  phases smallint[],
  address inet,
  -- Of a failed attempt.
  response_headers text
) partition by range (id);

-- A table without a primary key needs another replica identity: without one, updates and deletes fail
-- under a publication for all tables. Each partition has its own.
alter table svc."__svc.webhooks.delivery_log" replica identity full;

create index on svc."__svc.webhooks.delivery_log" (webhook_id, id);

-- Most rows are deliveries that succeeded: the others are found without stepping over those.
create index on svc."__svc.webhooks.delivery_log" (webhook_id, id) where status <> 'delivered';

create index on svc."__svc.webhooks.delivery_log" (delivery_id);

-- Each page of a list over all webhooks is read along one of these. A successful delivery is in three
-- of them: the others hold few rows.
create index svc_delivery_log_time on svc."__svc.webhooks.delivery_log" (id);
create index svc_delivery_log_event on svc."__svc.webhooks.delivery_log" (event, id);
create index svc_delivery_log_event_id on svc."__svc.webhooks.delivery_log"
  (svc."__svc.webhooks.published_id"(event_id), id) where event_id is not null;
create index svc_delivery_log_status on svc."__svc.webhooks.delivery_log" (status, id)
  where status <> 'delivered';
create index svc_delivery_log_status_code on svc."__svc.webhooks.delivery_log" (status_code, id)
  where status_code <> 200;
create index svc_delivery_log_tenant on svc."__svc.webhooks.delivery_log" (tenant, id)
  where tenant is not null;

-- Takes what no day has been made for: no row is ever refused.
create table svc."__svc.webhooks.delivery_log.rest"
  partition of svc."__svc.webhooks.delivery_log" default;

alter table svc."__svc.webhooks.delivery_log.rest" replica identity full;

-- What a recovery of missed events has still to make, in the order of the publishes. Without a
-- foreign key: checking it took more than half of the time in which a recovery of a million was begun.
create table svc."__svc.webhooks.missed_events" (
  recovery_id uuid not null,
  n bigint not null,
  event text collate "C" not null,
  event_id text collate "C" not null,
  primary key (recovery_id, n)
);

-- Statistics. A settle writes a narrow row for each attempt, in the statement that writes the log: no
-- index, no row that others write too, so processes do not wait for each other. A task counts these
-- rows into the table of statistics and the columns of webhooks, and deletes them in one transaction; who
-- reads the statistics adds those that are left.
create table svc."__svc.webhooks.recent_attempts" (
  at timestamptz not null,
  webhook_id uuid not null,
  tenant text collate "C",
  event text collate "C" not null,
  status text collate "C" not null,
  duration_ms integer,
  -- From the publish to the attempt, of first attempts.
  first_attempt_ms integer,
  -- Whether the receiver of the webhook took it. Null: it says nothing about that receiver.
  succeeded boolean,
  recorded_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

alter table svc."__svc.webhooks.recent_attempts" replica identity full;

create table svc."__svc.webhooks.stats" (
  -- Minutes become hours after days, and hours days.
  period text collate "C" not null check (period in ('minute', 'hour', 'day')),
  at timestamptz not null,
  webhook_id uuid not null,
  event text collate "C" not null,
  tenant text collate "C",
  delivered integer not null,
  failed integer not null,
  skipped integer not null,
  dead integer not null,
  -- The counts of each bucket, whose bounds are in duration-buckets.ts.
  durations integer[] not null,
  first_attempts integer[] not null,
  primary key (period, at, webhook_id, event)
);

create index on svc."__svc.webhooks.stats" (webhook_id, period, at);
create index on svc."__svc.webhooks.stats" (tenant, period, at) where tenant is not null;

-- The statistics of all webhooks and events together, of each tenant and of all: a page of a host with
-- many webhooks reads these few rows. Minutes and hours are both counted: a page of a day reads 24 rows.
-- Minutes are deleted, and hours become days, when the others are rolled up.
create table svc."__svc.webhooks.stats_totals" (
  -- A tenant; '' for what has none, '*' for all.
  scope text collate "C" not null,
  period text collate "C" not null check (period in ('minute', 'hour', 'day')),
  at timestamptz not null,
  -- Whether these are events about keys, which not every caller may see.
  of_keys boolean not null,
  delivered integer not null,
  failed integer not null,
  skipped integer not null,
  dead integer not null,
  durations integer[] not null,
  first_attempts integer[] not null,
  primary key (scope, period, at, of_keys)
);

-- Inbound requests: what came, and what became of it. The ids are UUIDv7, which begin with the time: a
-- page of the newest rows is a walk along an index, and old rows are a range of the primary key.
create table svc."__svc.webhooks.inbound_log" (
  id uuid primary key,
  source text collate "C" not null,
  tenant text collate "C",
  outcome text not null check (outcome in ('accepted', 'duplicate', 'refused', 'failed')),
  reason text,
  event text collate "C",
  event_id text collate "C",
  ip text,
  bytes integer not null,
  duration_ms integer not null,
  -- Whether the source's `verify` had let it through.
  verified boolean not null,
  -- The rest only where the host keeps raw bodies.
  url text,
  headers text,
  body bytea,
  -- The events of the request as determined when it came, which a replay publishes: the stored headers
  -- are masked, so they cannot all be computed again. JSON as text: a sender may put a NUL into a
  -- parameter, which jsonb does not take.
  event_names text,
  request_parts text
);

create index on svc."__svc.webhooks.inbound_log" (source, id);

create index on svc."__svc.webhooks.inbound_log" (tenant, id) where tenant is not null;

-- Most requests are accepted: the others are found without stepping over those.
create index on svc."__svc.webhooks.inbound_log" (outcome, id) where outcome <> 'accepted';
