create type svc_jobs.job_state as enum ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');

create sequence svc."__svc.event_positions";

create table svc."__svc.applications" (
  name text not null,
  since timestamp with time zone default now() not null,
  constraint "__svc.applications_pkey" PRIMARY KEY (name)
);

create table svc."__svc.attempt_permits" (
  id uuid not null,
  queue text collate "C" not null,
  recipient text collate "C" not null,
  permitted_at timestamp with time zone not null,
  begun_by timestamp with time zone not null,
  attempts integer default 1 not null,
  constraint "__svc.attempt_permits_pkey" PRIMARY KEY (id)
);
CREATE INDEX "__svc.attempt_permits_queue_recipient_begun_by_idx" ON svc."__svc.attempt_permits" USING btree (queue, recipient, begun_by);

create table svc."__svc.audit" (
  id uuid not null,
  tenant text collate "C",
  actor_kind text collate "C" not null,
  actor_key_id uuid,
  actor_user_id text collate "C",
  actor_name text,
  action text collate "C" not null,
  target_kind text collate "C" not null,
  target_id text collate "C" not null,
  target_name text,
  changes jsonb,
  request_id text,
  ip text,
  constraint "__svc.audit_pkey" PRIMARY KEY (id)
);
CREATE INDEX "__svc.audit_action_id_idx" ON svc."__svc.audit" USING btree (action, id DESC);
CREATE INDEX "__svc.audit_actor_key_id_id_idx" ON svc."__svc.audit" USING btree (actor_key_id, id DESC) WHERE (actor_key_id IS NOT NULL);
CREATE INDEX "__svc.audit_actor_kind_id_idx" ON svc."__svc.audit" USING btree (actor_kind, id DESC);
CREATE INDEX "__svc.audit_actor_user_id_id_idx" ON svc."__svc.audit" USING btree (actor_user_id, id DESC) WHERE (actor_user_id IS NOT NULL);
CREATE INDEX "__svc.audit_target_id_id_idx" ON svc."__svc.audit" USING btree (target_id, id DESC);
CREATE INDEX "__svc.audit_target_kind_id_idx" ON svc."__svc.audit" USING btree (target_kind, id DESC);
CREATE INDEX "__svc.audit_tenant_id_idx" ON svc."__svc.audit" USING btree (tenant, id DESC);
CREATE TRIGGER "__svc.auth.name_audit" BEFORE INSERT ON svc."__svc.audit" FOR EACH ROW EXECUTE FUNCTION svc."__svc.auth.name_audit"();
CREATE TRIGGER "__svc.console.notify_change" AFTER INSERT ON svc."__svc.audit" FOR EACH STATEMENT EXECUTE FUNCTION svc."__svc.console.notify_change"();
CREATE TRIGGER "__svc.webhooks.name_audit" BEFORE INSERT ON svc."__svc.audit" FOR EACH ROW WHEN ((new.target_kind = 'webhook'::text)) EXECUTE FUNCTION svc."__svc.webhooks.name_audit"();

create table svc."__svc.auth.api_keys" (
  id uuid not null,
  user_id uuid not null,
  tenant text collate "C",
  key_hash text collate "C",
  foreign_hash text collate "C",
  key_prefix text collate "C" not null,
  label text,
  scopes text[] not null,
  metadata jsonb,
  enabled boolean default true not null,
  allowed_ips text[],
  limits jsonb,
  quota jsonb,
  bounds jsonb,
  allowances_of uuid,
  replaces uuid,
  replaced_by uuid,
  created_at timestamp with time zone default now() not null,
  imported_at timestamp with time zone,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  expiry_notice integer,
  unused_notice_of timestamp with time zone,
  words tsvector generated always as (svc."__svc.search_words"(label)) stored,
  constraint "__svc.auth.api_keys_check" CHECK (((key_hash IS NOT NULL) OR (foreign_hash IS NOT NULL))),
  constraint "__svc.auth.api_keys_foreign_hash_check" CHECK ((foreign_hash ~ '^[0-9a-f]{64}$'::text)),
  constraint "__svc.auth.api_keys_key_hash_check" CHECK ((key_hash ~ '^[0-9a-f]{64}$'::text)),
  constraint "__svc.auth.api_keys_key_prefix_check" CHECK ((length(key_prefix) <= 8)),
  constraint "__svc.auth.api_keys_pkey" PRIMARY KEY (id),
  constraint "__svc.auth.api_keys_key_hash_key" UNIQUE (key_hash)
);
CREATE INDEX "__svc.auth.api_keys_expires_at_idx" ON svc."__svc.auth.api_keys" USING btree (expires_at) WHERE ((expires_at > created_at) AND (revoked_at IS NULL) AND (expiry_notice IS DISTINCT FROM 0));
CREATE UNIQUE INDEX "__svc.auth.api_keys_foreign_hash_idx" ON svc."__svc.auth.api_keys" USING btree (foreign_hash) WHERE (foreign_hash IS NOT NULL);
CREATE INDEX "__svc.auth.api_keys_key_prefix_id_idx" ON svc."__svc.auth.api_keys" USING btree (key_prefix, id DESC);
CREATE INDEX "__svc.auth.api_keys_tenant_id_idx" ON svc."__svc.auth.api_keys" USING btree (tenant, id DESC);
CREATE INDEX "__svc.auth.api_keys_user_id_id_idx" ON svc."__svc.auth.api_keys" USING btree (user_id, id DESC);
CREATE INDEX api_keys_disabled ON svc."__svc.auth.api_keys" USING btree (id DESC) WHERE (NOT enabled);
CREATE INDEX api_keys_expiring ON svc."__svc.auth.api_keys" USING btree (id DESC) WHERE (expires_at IS NOT NULL);
CREATE INDEX api_keys_revoked ON svc."__svc.auth.api_keys" USING btree (id DESC) WHERE (revoked_at IS NOT NULL);
CREATE INDEX api_keys_search ON svc."__svc.auth.api_keys" USING gin (words);
CREATE TRIGGER take_tenant BEFORE INSERT ON svc."__svc.auth.api_keys" FOR EACH ROW EXECUTE FUNCTION svc."__svc.auth.tenant_of_key"();
CREATE TRIGGER tell_deleted AFTER DELETE ON svc."__svc.auth.api_keys" REFERENCING OLD TABLE AS was FOR EACH STATEMENT EXECUTE FUNCTION svc."__svc.auth.tell_changed_keys"();
CREATE TRIGGER tell_updated AFTER UPDATE ON svc."__svc.auth.api_keys" REFERENCING OLD TABLE AS was NEW TABLE AS now FOR EACH STATEMENT EXECUTE FUNCTION svc."__svc.auth.tell_changed_keys"();

create table svc."__svc.auth.epoch" (
  is_only boolean default true not null,
  epoch bigint default 0 not null,
  dropped text[] default '{}'::text[] not null,
  marks double precision[] default '{}'::double precision[] not null,
  constraint "__svc.auth.epoch_is_only_check" CHECK (is_only),
  constraint "__svc.auth.epoch_pkey" PRIMARY KEY (is_only)
);

create table svc."__svc.auth.failing_prefixes" (
  prefix text collate "C" not null,
  failures timestamp with time zone[] not null,
  blocked_by uuid,
  expires_at timestamp with time zone not null,
  changed_in xid8 not null,
  constraint "__svc.auth.failing_prefixes_pkey" PRIMARY KEY (prefix)
);
CREATE INDEX "__svc.auth.failing_prefixes_changed_in_idx" ON svc."__svc.auth.failing_prefixes" USING btree (changed_in);
CREATE INDEX "__svc.auth.failing_prefixes_expires_at_idx" ON svc."__svc.auth.failing_prefixes" USING btree (expires_at);

create table svc."__svc.auth.quotas" (
  subject text collate "C" not null,
  period text collate "C" not null,
  period_start timestamp with time zone not null,
  allotted bigint not null,
  constraint "__svc.auth.quotas_period_check" CHECK ((period = ANY (ARRAY['day'::text, 'month'::text, 'total'::text]))),
  constraint "__svc.auth.quotas_pkey" PRIMARY KEY (subject, period)
) with (fillfactor=70);

create table svc."__svc.auth.usage" (
  key_id uuid not null,
  hour timestamp with time zone not null,
  tenant text collate "C",
  allowed bigint not null,
  rate_limited bigint not null,
  quota_exceeded bigint not null,
  forbidden bigint not null,
  expired bigint not null,
  constraint "__svc.auth.usage_pkey" PRIMARY KEY (key_id, hour)
) with (fillfactor=70);
CREATE INDEX "__svc.auth.usage_hour_idx" ON svc."__svc.auth.usage" USING btree (hour);
CREATE INDEX "__svc.auth.usage_tenant_hour_idx" ON svc."__svc.auth.usage" USING btree (tenant, hour);

create table svc."__svc.auth.usage_writers" (
  writer uuid not null,
  portion bigint not null,
  written_at timestamp with time zone default now() not null,
  constraint "__svc.auth.usage_writers_pkey" PRIMARY KEY (writer)
) with (fillfactor=50);

create table svc."__svc.auth.users" (
  id uuid not null,
  tenant text collate "C",
  email text not null,
  name text not null,
  role text not null,
  created_at timestamp with time zone default now() not null,
  words tsvector generated always as (svc."__svc.search_words"(((name || ' '::text) || email))) stored,
  constraint "__svc.auth.users_tenant_check" CHECK ((tenant ~ '^[A-Za-z0-9_.:-]{1,64}$'::text)),
  constraint "__svc.auth.users_pkey" PRIMARY KEY (id)
);
CREATE UNIQUE INDEX "__svc.auth.users_lower_idx" ON svc."__svc.auth.users" USING btree (lower((email COLLATE "C"))) WHERE (tenant IS NULL);
CREATE INDEX "__svc.auth.users_tenant_id_idx" ON svc."__svc.auth.users" USING btree (tenant, id DESC);
CREATE UNIQUE INDEX "__svc.auth.users_tenant_lower_idx" ON svc."__svc.auth.users" USING btree (tenant, lower((email COLLATE "C"))) WHERE (tenant IS NOT NULL);
CREATE INDEX users_search ON svc."__svc.auth.users" USING gin (words);
CREATE TRIGGER note_tenant AFTER INSERT ON svc."__svc.auth.users" FOR EACH ROW WHEN ((new.tenant IS NOT NULL)) EXECUTE FUNCTION svc."__svc.note_tenant"();

create table svc."__svc.auth.windows" (
  subject text collate "C" not null,
  per_seconds integer not null,
  allotted_at double precision[] default '{}'::double precision[] not null,
  allotted integer[] default '{}'::integer[] not null,
  holders uuid[] default '{}'::uuid[] not null,
  held integer[] default '{}'::integer[] not null,
  held_until double precision[] default '{}'::double precision[] not null,
  unused_after timestamp with time zone not null,
  constraint "__svc.auth.windows_pkey" PRIMARY KEY (subject, per_seconds)
) with (fillfactor=70);
CREATE INDEX "__svc.auth.windows_unused_after_idx" ON svc."__svc.auth.windows" USING btree (unused_after);

create table svc."__svc.console.portal_codes" (
  id uuid not null,
  code_hash bytea not null,
  key_id uuid,
  bootstrap_seal text collate "C",
  tenant text collate "C" not null,
  user_id text collate "C",
  rights text[] not null,
  look jsonb not null,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  constraint "__svc.console.portal_codes_pkey" PRIMARY KEY (id),
  constraint "__svc.console.portal_codes_code_hash_key" UNIQUE (code_hash)
);
CREATE INDEX "__svc.console.portal_codes_expires_at_idx" ON svc."__svc.console.portal_codes" USING btree (expires_at);
CREATE INDEX "__svc.console.portal_codes_tenant_idx" ON svc."__svc.console.portal_codes" USING btree (tenant);

create table svc."__svc.console.sessions" (
  id uuid not null,
  token_hash bytea not null,
  via text collate "C" not null,
  key_id uuid,
  link_key_id uuid,
  login jsonb,
  user_id text collate "C",
  tenant text collate "C",
  rights text[],
  look jsonb,
  ip text,
  bootstrap_seal text collate "C",
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  constraint "__svc.console.sessions_via_check" CHECK ((via = ANY (ARRAY['key'::text, 'portal'::text]))),
  constraint "__svc.console.sessions_pkey" PRIMARY KEY (id),
  constraint "__svc.console.sessions_token_hash_key" UNIQUE (token_hash)
);
CREATE INDEX "__svc.console.sessions_expires_at_idx" ON svc."__svc.console.sessions" USING btree (expires_at);
CREATE INDEX "__svc.console.sessions_tenant_id_idx" ON svc."__svc.console.sessions" USING btree (tenant, id) WHERE (tenant IS NOT NULL);
CREATE TRIGGER "__svc.console.notify_ended" AFTER DELETE ON svc."__svc.console.sessions" FOR EACH STATEMENT EXECUTE FUNCTION svc."__svc.console.notify_ended"();

create table svc."__svc.events" (
  name text collate "C" not null,
  id text collate "C" not null,
  payload text not null,
  tenant text collate "C",
  published_at timestamp with time zone default now() not null,
  keep_until timestamp with time zone,
  trace_context text,
  "position" bigint,
  changed json,
  constraint "__svc.events_pkey" PRIMARY KEY (name, id)
);
CREATE INDEX "__svc.events_published_at_idx" ON svc."__svc.events" USING brin (published_at);
CREATE INDEX events_by_position ON svc."__svc.events" USING btree ("position") INCLUDE (name) WHERE ("position" IS NOT NULL);
CREATE INDEX events_of_tenants ON svc."__svc.events" USING btree (tenant, published_at) WHERE (tenant IS NOT NULL);
CREATE INDEX events_of_tenants_by_position ON svc."__svc.events" USING btree (tenant, "position") INCLUDE (name) WHERE ((tenant IS NOT NULL) AND ("position" IS NOT NULL));
CREATE CONSTRAINT TRIGGER take_position_of_event AFTER INSERT ON svc."__svc.events" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new."position" IS NULL)) EXECUTE FUNCTION svc."__svc.take_position_of_event"() -- enabled: A;

create table svc."__svc.feed" (
  deleted_to bigint not null,
  erased_to bigint default 0 not null,
  constraint "__svc.feed_pkey" PRIMARY KEY (deleted_to)
);

create table svc."__svc.filter_changes" (
  filter_set bigint not null,
  changed_by xid8 default pg_current_xact_id() not null,
  changed_at timestamp with time zone default clock_timestamp() not null,
  first_of uuid
);
CREATE INDEX "__svc.filter_changes_changed_at_idx" ON svc."__svc.filter_changes" USING btree (changed_at);
CREATE INDEX "__svc.filter_changes_changed_by_idx" ON svc."__svc.filter_changes" USING btree (changed_by) WHERE (first_of IS NOT NULL);
CREATE INDEX "__svc.filter_changes_filter_set_changed_by_idx" ON svc."__svc.filter_changes" USING btree (filter_set, changed_by);

create table svc."__svc.kv" (
  key text collate "C" not null,
  value jsonb not null,
  expires_at timestamp with time zone,
  constraint "__svc.kv_pkey" PRIMARY KEY (key)
);
CREATE INDEX "__svc.kv_expires_at_idx" ON svc."__svc.kv" USING btree (expires_at) WHERE (expires_at IS NOT NULL);

create table svc."__svc.migrations" (
  owner text not null,
  name text not null,
  applied_at timestamp with time zone default now() not null,
  constraint "__svc.migrations_pkey" PRIMARY KEY (owner, name)
);

create table svc."__svc.pauses" (
  queue text collate "C" not null,
  tenant text collate "C" default ''::text not null,
  reason text,
  since timestamp with time zone default clock_timestamp() not null,
  constraint "__svc.pauses_pkey" PRIMARY KEY (queue, tenant)
);

create table svc."__svc.processes" (
  id uuid not null,
  started_at timestamp with time zone default now() not null,
  renewed_at timestamp with time zone default now() not null,
  closed_at timestamp with time zone,
  declares jsonb not null,
  is_locked boolean default false not null,
  awaits_events boolean default false not null,
  constraint "__svc.processes_pkey" PRIMARY KEY (id)
) with (fillfactor=50);
CREATE INDEX processes_that_await_events ON svc."__svc.processes" USING btree (id) WHERE (awaits_events AND (closed_at IS NULL));

create table svc."__svc.recipient_states" (
  queue text collate "C" not null,
  recipient text collate "C" not null,
  held boolean default false not null,
  circuit_open boolean default false not null,
  changed_by xid8 default pg_current_xact_id() not null,
  restricted boolean default false not null,
  rate_limit integer,
  rate_seconds integer,
  max_in_flight integer,
  ordered boolean default false not null,
  constraint "__svc.recipient_states_pkey" PRIMARY KEY (queue, recipient)
);
CREATE INDEX "__svc.recipient_states_queue_changed_by_idx" ON svc."__svc.recipient_states" USING btree (queue, changed_by);

create table svc."__svc.recipients" (
  subscription text collate "C" not null,
  event_name text collate "C" not null,
  recipient uuid not null,
  tenant text collate "C" default ''::text not null,
  filter jsonb,
  version uuid default gen_random_uuid() not null,
  constraint "__svc.recipients_pkey" PRIMARY KEY (subscription, event_name, recipient)
);
CREATE INDEX "__svc.recipients_recipient_idx" ON svc."__svc.recipients" USING btree (recipient);
CREATE INDEX recipients_by_tenant ON svc."__svc.recipients" USING btree (subscription, event_name, tenant, recipient) WHERE (filter IS NULL);
CREATE INDEX recipients_with_filter ON svc."__svc.recipients" USING btree (event_name, tenant) WHERE (filter IS NOT NULL);
CREATE TRIGGER note_filter_change AFTER INSERT OR DELETE OR UPDATE OF subscription, event_name, recipient, tenant, filter ON svc."__svc.recipients" FOR EACH ROW EXECUTE FUNCTION svc."__svc.note_filter_change"();
CREATE TRIGGER note_first_filter AFTER DELETE OR UPDATE OF filter ON svc."__svc.recipients" FOR EACH ROW WHEN ((old.filter IS NULL)) EXECUTE FUNCTION svc."__svc.note_first_filter"();

create table svc."__svc.subscriptions" (
  event_name text collate "C" not null,
  subscription text collate "C" not null,
  queue text not null,
  idempotent boolean default true not null,
  fans_out boolean default false not null,
  keep_days integer default 0 not null,
  meant_by text[] collate "C" generated always as (svc."__svc.names_that_mean"(event_name)) stored not null,
  constraint "__svc.subscriptions_pkey" PRIMARY KEY (event_name, subscription)
);
CREATE INDEX "__svc.subscriptions_subscription_idx" ON svc."__svc.subscriptions" USING btree (subscription);

create table svc."__svc.tenants" (
  id uuid default gen_random_uuid() not null,
  tenant text collate "C" not null,
  words tsvector generated always as (svc."__svc.search_words"(tenant)) stored,
  constraint "__svc.tenants_pkey" PRIMARY KEY (id)
);
CREATE INDEX "__svc.tenants_tenant_idx" ON svc."__svc.tenants" USING btree (tenant);
CREATE INDEX tenants_search ON svc."__svc.tenants" USING gin (words);

create table svc."__svc.webhooks.deleted_webhooks" (
  id uuid not null,
  tenant text collate "C" not null,
  deleted_at timestamp with time zone default now() not null,
  constraint "__svc.webhooks.deleted_webhooks_pkey" PRIMARY KEY (id)
);

create table svc."__svc.webhooks.delivery_log" (
  id uuid not null,
  webhook_id uuid not null,
  tenant text collate "C",
  event text collate "C" not null,
  event_id text collate "C",
  payload text,
  delivery_id uuid not null,
  attempt integer not null,
  url text,
  status text not null,
  status_code smallint,
  error text,
  duration_ms integer,
  response_body text,
  attempted_at timestamp with time zone not null,
  next_attempt_at timestamp with time zone,
  is_test boolean,
  phases smallint[],
  address inet,
  response_headers text
) partition by RANGE (id);
CREATE INDEX "__svc.webhooks.delivery_log_delivery_id_idx" ON ONLY svc."__svc.webhooks.delivery_log" USING btree (delivery_id);
CREATE INDEX "__svc.webhooks.delivery_log_webhook_id_id_idx" ON ONLY svc."__svc.webhooks.delivery_log" USING btree (webhook_id, id);
CREATE INDEX "__svc.webhooks.delivery_log_webhook_id_id_idx1" ON ONLY svc."__svc.webhooks.delivery_log" USING btree (webhook_id, id) WHERE (status <> 'delivered'::text);
CREATE INDEX svc_delivery_log_event ON ONLY svc."__svc.webhooks.delivery_log" USING btree (event, id);
CREATE INDEX svc_delivery_log_event_id ON ONLY svc."__svc.webhooks.delivery_log" USING btree (svc."__svc.webhooks.published_id"(event_id), id) WHERE (event_id IS NOT NULL);
CREATE INDEX svc_delivery_log_status ON ONLY svc."__svc.webhooks.delivery_log" USING btree (status, id) WHERE (status <> 'delivered'::text);
CREATE INDEX svc_delivery_log_status_code ON ONLY svc."__svc.webhooks.delivery_log" USING btree (status_code, id) WHERE (status_code <> 200);
CREATE INDEX svc_delivery_log_tenant ON ONLY svc."__svc.webhooks.delivery_log" USING btree (tenant, id) WHERE (tenant IS NOT NULL);
CREATE INDEX svc_delivery_log_time ON ONLY svc."__svc.webhooks.delivery_log" USING btree (id);

create table svc."__svc.webhooks.delivery_log.<day>" partition of svc."__svc.webhooks.delivery_log" FOR VALUES FROM (…) TO (…);

create table svc."__svc.webhooks.delivery_log.rest" partition of svc."__svc.webhooks.delivery_log" DEFAULT;

create table svc."__svc.webhooks.inbound_log" (
  id uuid not null,
  source text collate "C" not null,
  tenant text collate "C",
  outcome text not null,
  reason text,
  event text collate "C",
  event_id text collate "C",
  ip text,
  bytes integer not null,
  duration_ms integer not null,
  verified boolean not null,
  url text,
  headers text,
  body bytea,
  event_names text,
  request_parts text,
  constraint "__svc.webhooks.inbound_log_outcome_check" CHECK ((outcome = ANY (ARRAY['accepted'::text, 'duplicate'::text, 'refused'::text, 'failed'::text]))),
  constraint "__svc.webhooks.inbound_log_pkey" PRIMARY KEY (id)
);
CREATE INDEX "__svc.webhooks.inbound_log_outcome_id_idx" ON svc."__svc.webhooks.inbound_log" USING btree (outcome, id) WHERE (outcome <> 'accepted'::text);
CREATE INDEX "__svc.webhooks.inbound_log_source_id_idx" ON svc."__svc.webhooks.inbound_log" USING btree (source, id);
CREATE INDEX "__svc.webhooks.inbound_log_tenant_id_idx" ON svc."__svc.webhooks.inbound_log" USING btree (tenant, id) WHERE (tenant IS NOT NULL);

create table svc."__svc.webhooks.missed_events" (
  recovery_id uuid not null,
  n bigint not null,
  event text collate "C" not null,
  event_id text collate "C" not null,
  constraint "__svc.webhooks.missed_events_pkey" PRIMARY KEY (recovery_id, n)
);

create table svc."__svc.webhooks.recent_attempts" (
  at timestamp with time zone not null,
  webhook_id uuid not null,
  tenant text collate "C",
  event text collate "C" not null,
  status text collate "C" not null,
  duration_ms integer,
  first_attempt_ms integer,
  succeeded boolean,
  recorded_at timestamp with time zone default clock_timestamp() not null
) with (autovacuum_vacuum_scale_factor=0.05, autovacuum_analyze_scale_factor=0.05);

create table svc."__svc.webhooks.registrations" (
  id uuid not null,
  tenant text collate "C",
  url text,
  events text[] not null,
  label text,
  description text,
  metadata jsonb,
  filter jsonb,
  filter_cost integer,
  active boolean default true not null,
  paused boolean default false not null,
  secret text not null,
  previous_secrets jsonb,
  headers jsonb,
  timeout_ms integer,
  retry jsonb,
  rate_limit jsonb,
  max_in_flight integer,
  ordered boolean default false not null,
  transform text,
  fields jsonb,
  disabled_at timestamp with time zone,
  disabled_reason text,
  failing_since timestamp with time zone,
  failed_attempts integer default 0 not null,
  last_success_at timestamp with time zone,
  last_failure_at timestamp with time zone,
  warned_at timestamp with time zone,
  probe_after timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  words tsvector generated always as (svc."__svc.search_words"(((COALESCE(label, ''::text) || ' '::text) || COALESCE(url, ''::text)))) stored,
  constraint "__svc.webhooks.registrations_pkey" PRIMARY KEY (id)
);
CREATE INDEX "__svc.webhooks.registrations_tenant_id_idx" ON svc."__svc.webhooks.registrations" USING btree (tenant, id) WHERE (tenant IS NOT NULL);
CREATE INDEX failing_webhooks ON svc."__svc.webhooks.registrations" USING btree (id) WHERE ((failing_since IS NOT NULL) OR (disabled_reason = 'failing'::text));
CREATE INDEX inactive_webhooks ON svc."__svc.webhooks.registrations" USING btree (id) WHERE (NOT active);
CREATE INDEX webhooks_search ON svc."__svc.webhooks.registrations" USING gin (words);
CREATE CONSTRAINT TRIGGER lift_deleted AFTER DELETE ON svc."__svc.webhooks.registrations" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((old.ordered OR (old.rate_limit IS NOT NULL) OR (old.max_in_flight IS NOT NULL))) EXECUTE FUNCTION svc."__svc.webhooks.restrict"();
CREATE TRIGGER note_tenant AFTER INSERT ON svc."__svc.webhooks.registrations" FOR EACH ROW WHEN ((new.tenant IS NOT NULL)) EXECUTE FUNCTION svc."__svc.note_tenant"();
CREATE TRIGGER raise_version AFTER UPDATE ON svc."__svc.webhooks.registrations" FOR EACH ROW WHEN ((((((((((((((old.url IS DISTINCT FROM new.url) OR (old.active IS DISTINCT FROM new.active)) OR (old.paused IS DISTINCT FROM new.paused)) OR (old.secret IS DISTINCT FROM new.secret)) OR (old.previous_secrets IS DISTINCT FROM new.previous_secrets)) OR (old.headers IS DISTINCT FROM new.headers)) OR (old.timeout_ms IS DISTINCT FROM new.timeout_ms)) OR (old.transform IS DISTINCT FROM new.transform)) OR (old.fields IS DISTINCT FROM new.fields)) OR (old.retry IS DISTINCT FROM new.retry)) OR (old.rate_limit IS DISTINCT FROM new.rate_limit)) OR (old.max_in_flight IS DISTINCT FROM new.max_in_flight)) OR (old.ordered IS DISTINCT FROM new.ordered))) EXECUTE FUNCTION svc."__svc.webhooks.raise_version"();
CREATE TRIGGER raise_version_of_deleted AFTER DELETE ON svc."__svc.webhooks.registrations" FOR EACH ROW EXECUTE FUNCTION svc."__svc.webhooks.raise_version"();
CREATE TRIGGER restrict_changed AFTER UPDATE OF ordered, rate_limit, max_in_flight ON svc."__svc.webhooks.registrations" FOR EACH ROW WHEN ((((old.ordered IS DISTINCT FROM new.ordered) OR (old.rate_limit IS DISTINCT FROM new.rate_limit)) OR (old.max_in_flight IS DISTINCT FROM new.max_in_flight))) EXECUTE FUNCTION svc."__svc.webhooks.restrict"();
CREATE TRIGGER restrict_new AFTER INSERT ON svc."__svc.webhooks.registrations" FOR EACH ROW WHEN ((new.ordered OR (new.rate_limit IS NOT NULL) OR (new.max_in_flight IS NOT NULL))) EXECUTE FUNCTION svc."__svc.webhooks.restrict"();

create table svc."__svc.webhooks.stats" (
  period text collate "C" not null,
  at timestamp with time zone not null,
  webhook_id uuid not null,
  event text collate "C" not null,
  tenant text collate "C",
  delivered integer not null,
  failed integer not null,
  skipped integer not null,
  dead integer not null,
  durations integer[] not null,
  first_attempts integer[] not null,
  constraint "__svc.webhooks.stats_period_check" CHECK ((period = ANY (ARRAY['minute'::text, 'hour'::text, 'day'::text]))),
  constraint "__svc.webhooks.stats_pkey" PRIMARY KEY (period, at, webhook_id, event)
);
CREATE INDEX "__svc.webhooks.stats_tenant_period_at_idx" ON svc."__svc.webhooks.stats" USING btree (tenant, period, at) WHERE (tenant IS NOT NULL);
CREATE INDEX "__svc.webhooks.stats_webhook_id_period_at_idx" ON svc."__svc.webhooks.stats" USING btree (webhook_id, period, at);

create table svc."__svc.webhooks.stats_totals" (
  scope text collate "C" not null,
  period text collate "C" not null,
  at timestamp with time zone not null,
  of_keys boolean not null,
  delivered integer not null,
  failed integer not null,
  skipped integer not null,
  dead integer not null,
  durations integer[] not null,
  first_attempts integer[] not null,
  constraint "__svc.webhooks.stats_totals_period_check" CHECK ((period = ANY (ARRAY['minute'::text, 'hour'::text, 'day'::text]))),
  constraint "__svc.webhooks.stats_totals_pkey" PRIMARY KEY (scope, period, at, of_keys)
);

create table svc."__svc.work" (
  id uuid not null,
  queue text collate "C" not null,
  recipient text collate "C" not null,
  what text not null,
  since timestamp with time zone default '-infinity'::timestamp with time zone not null,
  until timestamp with time zone not null,
  per_second integer,
  deliveries integer,
  done integer default 0 not null,
  next_at timestamp with time zone default now() not null,
  "position" jsonb,
  after_transaction xid8,
  created_at timestamp with time zone default clock_timestamp() not null,
  finished_at timestamp with time zone,
  constraint "__svc.work_what_check" CHECK ((what = ANY (ARRAY['discard'::text, 'due'::text, 'redrive'::text, 'dead'::text, 'failed'::text, 'missing'::text]))),
  constraint "__svc.work_pkey" PRIMARY KEY (id)
);
CREATE INDEX "__svc.work_queue_next_at_idx" ON svc."__svc.work" USING btree (queue, next_at) WHERE (finished_at IS NULL);
CREATE INDEX "__svc.work_queue_recipient_id_idx" ON svc."__svc.work" USING btree (queue, recipient, id);
CREATE TRIGGER "__svc.webhooks.delete_missed_events" AFTER DELETE ON svc."__svc.work" REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION svc."__svc.webhooks.delete_missed_events"();

create table svc_jobs.bam (
  id uuid default gen_random_uuid() not null,
  name text not null,
  version integer not null,
  status text default 'pending'::text not null,
  queue text,
  table_name text not null,
  command text not null,
  error text,
  created_on timestamp with time zone default clock_timestamp() not null,
  started_on timestamp with time zone,
  completed_on timestamp with time zone,
  constraint bam_pkey PRIMARY KEY (id)
);

create table svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e partition of svc_jobs.job FOR VALUES IN ('__svc.webhooks.deliver') with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500, autovacuum_analyze_scale_factor=0.05, autovacuum_analyze_threshold=500);
CREATE INDEX jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e_i11 ON svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e USING btree (name, priority DESC, created_on, start_after) WHERE ((state < 'active'::svc_jobs.job_state) AND (NOT blocked));
CREATE INDEX jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e_i7 ON svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e USING btree (name, group_id) WHERE ((state = 'active'::svc_jobs.job_state) AND (group_id IS NOT NULL));
CREATE INDEX svc_active_jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0df ON svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e USING btree (name) WHERE ((state = 'active'::svc_jobs.job_state) AND (group_id IS NULL));
CREATE INDEX svc_due_jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc72 ON svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e USING btree (start_after) WHERE (blocked AND (state < 'active'::svc_jobs.job_state) AND (priority = '-1'::integer));
CREATE INDEX svc_ordered_jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0d ON svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e USING btree (singleton_key, created_on, id) WHERE (blocked AND (state < 'active'::svc_jobs.job_state) AND (priority = '-2'::integer));
CREATE INDEX svc_waiting_jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0d ON svc_jobs.jdbbb02f7efeed6c8089b17358e90e777fd694bd31e4c009c0dfc725e USING btree (priority, singleton_key, start_after) WHERE (blocked AND (state < 'active'::svc_jobs.job_state));

create table svc_jobs.job (
  id uuid default gen_random_uuid() not null,
  name text not null,
  priority integer default 0 not null,
  data jsonb,
  state svc_jobs.job_state default 'created'::svc_jobs.job_state not null,
  retry_limit integer default 2 not null,
  retry_count integer default 0 not null,
  retry_delay integer default 0 not null,
  retry_backoff boolean default false not null,
  retry_delay_max integer,
  expire_seconds integer default 900 not null,
  deletion_seconds integer default 604800 not null,
  singleton_key text,
  singleton_on timestamp without time zone,
  group_id text,
  group_tier text,
  start_after timestamp with time zone default now() not null,
  created_on timestamp with time zone default now() not null,
  started_on timestamp with time zone,
  completed_on timestamp with time zone,
  keep_until timestamp with time zone default (now() + '336:00:00'::interval) not null,
  output jsonb,
  dead_letter text,
  policy text,
  heartbeat_on timestamp with time zone,
  heartbeat_seconds integer,
  blocked boolean default false not null,
  blocking boolean default false not null,
  pending_dependencies integer default 0 not null,
  source_name text,
  source_id uuid,
  source_created_on timestamp with time zone,
  source_retry_count integer,
  source_output jsonb,
  source_root_id uuid,
  constraint job_pkey PRIMARY KEY (name, id)
) partition by LIST (name);

create table svc_jobs.job_common partition of svc_jobs.job (
  constraint job_key_strict_fifo_singleton_key_check CHECK ((NOT ((policy = 'key_strict_fifo'::text) AND (singleton_key IS NULL)))),
  constraint dlq_fkey FOREIGN KEY (dead_letter) REFERENCES svc_jobs.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED,
  constraint q_fkey FOREIGN KEY (name) REFERENCES svc_jobs.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED
) DEFAULT;
CREATE UNIQUE INDEX job_common_i1 ON svc_jobs.job_common USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state = 'created'::svc_jobs.job_state) AND (policy = 'short'::text));
CREATE INDEX job_common_i10 ON svc_jobs.job_common USING btree (name, singleton_key, state DESC, created_on, id) INCLUDE (start_after) WHERE ((state < 'active'::svc_jobs.job_state) AND (NOT blocked) AND (policy = 'key_strict_fifo'::text));
CREATE INDEX job_common_i11 ON svc_jobs.job_common USING btree (name, priority DESC, created_on, start_after) WHERE ((state < 'active'::svc_jobs.job_state) AND (NOT blocked));
CREATE INDEX job_common_i12 ON svc_jobs.job_common USING btree (source_root_id) WHERE (source_root_id IS NOT NULL);
CREATE UNIQUE INDEX job_common_i2 ON svc_jobs.job_common USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state = 'active'::svc_jobs.job_state) AND (policy = 'singleton'::text));
CREATE UNIQUE INDEX job_common_i3 ON svc_jobs.job_common USING btree (name, state, COALESCE(singleton_key, ''::text)) WHERE ((state <= 'active'::svc_jobs.job_state) AND (policy = 'stately'::text));
CREATE UNIQUE INDEX job_common_i4 ON svc_jobs.job_common USING btree (name, singleton_on, COALESCE(singleton_key, ''::text)) WHERE ((state <> 'cancelled'::svc_jobs.job_state) AND (singleton_on IS NOT NULL));
CREATE UNIQUE INDEX job_common_i6 ON svc_jobs.job_common USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state <= 'active'::svc_jobs.job_state) AND (policy = 'exclusive'::text));
CREATE INDEX job_common_i7 ON svc_jobs.job_common USING btree (name, group_id) WHERE ((state = 'active'::svc_jobs.job_state) AND (group_id IS NOT NULL));
CREATE UNIQUE INDEX job_common_i8 ON svc_jobs.job_common USING btree (name, singleton_key) WHERE ((state = ANY (ARRAY['active'::svc_jobs.job_state, 'retry'::svc_jobs.job_state, 'failed'::svc_jobs.job_state])) AND (policy = 'key_strict_fifo'::text));
CREATE INDEX job_common_i9 ON svc_jobs.job_common USING btree (name, id) WHERE (blocking AND (state = 'completed'::svc_jobs.job_state));
CREATE INDEX svc_active_job_common ON svc_jobs.job_common USING btree (name) WHERE ((state = 'active'::svc_jobs.job_state) AND (group_id IS NULL));
CREATE INDEX svc_dead_letters ON svc_jobs.job_common USING btree (name, singleton_key, id) WHERE (name ~~ '%.dlq'::text);
CREATE INDEX svc_dead_letters_delivery_id ON svc_jobs.job_common USING btree (name, ((data ->> 'deliveryId'::text))) WHERE (name ~~ '%.dlq'::text);
CREATE INDEX svc_dead_letters_event ON svc_jobs.job_common USING btree (name, ((data ->> 'event'::text)), id) WHERE (name ~~ '%.dlq'::text);
CREATE INDEX svc_dead_letters_event_id ON svc_jobs.job_common USING btree (name, substr((data ->> 'eventId'::text), (strpos((data ->> 'eventId'::text), ''::text) + 1)), id) WHERE (name ~~ '%.dlq'::text);
CREATE INDEX svc_dead_letters_status_code ON svc_jobs.job_common USING btree (name, ((source_output ->> 'statusCode'::text)), id) WHERE (name ~~ '%.dlq'::text);
CREATE INDEX svc_due_job_common ON svc_jobs.job_common USING btree (start_after) WHERE (blocked AND (state < 'active'::svc_jobs.job_state) AND (priority = '-1'::integer));
CREATE INDEX svc_ordered_job_common ON svc_jobs.job_common USING btree (singleton_key, created_on, id) WHERE (blocked AND (state < 'active'::svc_jobs.job_state) AND (priority = '-2'::integer));
CREATE INDEX svc_waiting_job_common ON svc_jobs.job_common USING btree (priority, singleton_key, start_after) WHERE (blocked AND (state < 'active'::svc_jobs.job_state));
CREATE TRIGGER svc_dead_letter_id BEFORE INSERT ON svc_jobs.job_common FOR EACH ROW WHEN ((new.name ~~ '%.dlq'::text)) EXECUTE FUNCTION svc."__svc.dead_letter_id"();

create table svc_jobs.job_dependency (
  child_name text not null,
  child_id uuid not null,
  parent_name text not null,
  parent_id uuid not null,
  constraint job_dependency_pkey PRIMARY KEY (child_name, child_id, parent_name, parent_id)
);
CREATE INDEX job_dep_parent_idx ON svc_jobs.job_dependency USING btree (parent_name, parent_id);

create table svc_jobs.queue (
  name text not null,
  policy text not null,
  retry_limit integer not null,
  retry_delay integer not null,
  retry_backoff boolean not null,
  retry_delay_max integer,
  expire_seconds integer not null,
  retention_seconds integer not null,
  deletion_seconds integer not null,
  dead_letter text,
  partition boolean not null,
  table_name text not null,
  deferred_count integer default 0 not null,
  queued_count integer default 0 not null,
  ready_count integer default 0 not null,
  warning_queued integer default 0 not null,
  active_count integer default 0 not null,
  failed_count integer default 0 not null,
  total_count integer default 0 not null,
  created_delta integer default 0 not null,
  completed_delta integer default 0 not null,
  failed_delta integer default 0 not null,
  delta_on timestamp with time zone,
  delta_seconds integer,
  ready_history integer[] default '{}'::integer[] not null,
  heartbeat_seconds integer,
  notify boolean default false not null,
  singletons_active text[],
  monitor_claim_on timestamp with time zone,
  monitor_on timestamp with time zone,
  maintain_on timestamp with time zone,
  created_on timestamp with time zone default now() not null,
  updated_on timestamp with time zone default now() not null,
  constraint queue_check CHECK ((dead_letter IS DISTINCT FROM name)),
  constraint queue_dead_letter_fkey FOREIGN KEY (dead_letter) REFERENCES svc_jobs.queue(name),
  constraint queue_pkey PRIMARY KEY (name)
);

create table svc_jobs.queue_stats (
  id uuid default gen_random_uuid() not null,
  name text not null,
  deferred_count integer default 0 not null,
  queued_count integer default 0 not null,
  ready_count integer default 0 not null,
  active_count integer default 0 not null,
  failed_count integer default 0 not null,
  total_count integer default 0 not null,
  created_delta integer,
  completed_delta integer,
  failed_delta integer,
  delta_seconds integer,
  delta_on timestamp with time zone,
  captured_on timestamp with time zone default now() not null,
  constraint queue_stats_pkey PRIMARY KEY (id, captured_on)
) partition by RANGE (captured_on);
CREATE INDEX queue_stats_i1 ON ONLY svc_jobs.queue_stats USING btree (name, captured_on DESC) INCLUDE (deferred_count, queued_count, ready_count, active_count, failed_count, total_count);

create table svc_jobs.queue_stats_<day> partition of svc_jobs.queue_stats FOR VALUES FROM (…) TO (…);

create table svc_jobs.schedule (
  name text not null,
  key text default ''::text not null,
  kind text default 'cron'::text not null,
  cron text not null,
  timezone text default 'UTC'::text,
  data jsonb,
  options jsonb,
  created_on timestamp with time zone default now() not null,
  updated_on timestamp with time zone default now() not null,
  last_job_id uuid,
  constraint schedule_kind_check CHECK ((kind = ANY (ARRAY['cron'::text, 'rrule'::text]))),
  constraint schedule_name_fkey FOREIGN KEY (name) REFERENCES svc_jobs.queue(name) ON DELETE CASCADE,
  constraint schedule_pkey PRIMARY KEY (name, key)
);

create table svc_jobs.subscription (
  event text not null,
  name text not null,
  created_on timestamp with time zone default now() not null,
  updated_on timestamp with time zone default now() not null,
  constraint subscription_name_fkey FOREIGN KEY (name) REFERENCES svc_jobs.queue(name) ON DELETE CASCADE,
  constraint subscription_pkey PRIMARY KEY (event, name)
);

create table svc_jobs.version (
  version integer not null,
  cron_on timestamp with time zone,
  bam_on timestamp with time zone,
  flow_on timestamp with time zone,
  reindex_on timestamp with time zone,
  monitor_backoff_on timestamp with time zone,
  constraint version_pkey PRIMARY KEY (version)
);

create table svc_jobs.warning (
  id uuid default gen_random_uuid() not null,
  type text not null,
  message text not null,
  data jsonb,
  created_on timestamp with time zone default now() not null,
  constraint warning_pkey PRIMARY KEY (id)
);
CREATE INDEX warning_i1 ON svc_jobs.warning USING btree (created_on DESC);

create view svc."__svc.webhooks.for_delivery" as
 SELECT id,
    url,
    active,
    paused,
    (tenant IS NULL) AS "isOperators",
    secret,
        CASE
            WHEN (previous_secrets IS NOT NULL) THEN ( SELECT (json_agg((previous.one ->> 'secret'::text) ORDER BY previous.n))::text AS json_agg
               FROM jsonb_array_elements("__svc.webhooks.registrations".previous_secrets) WITH ORDINALITY previous(one, n)
              WHERE (((previous.one ->> 'expiresAt'::text))::timestamp with time zone > now()))
            ELSE NULL::text
        END AS "previousSecrets",
    (headers)::text AS headers,
    timeout_ms AS "timeoutMs",
    transform,
    (fields)::text AS fields,
    (retry)::text AS retry,
    (ordered OR (rate_limit IS NOT NULL) OR (max_in_flight IS NOT NULL)) AS "isRestricted"
   FROM svc."__svc.webhooks.registrations";

CREATE OR REPLACE FUNCTION svc."__svc.auth.allot_allowances"(holder uuid, late_ms double precision, places jsonb, demands jsonb, at_ms double precision DEFAULT NULL::double precision)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  now_ms float8;
  -- Of each place: whether it is a quota, how much is used, how much of that is allotted to requests here,
  -- and whether a request is refused that needed it: then nothing is allotted ahead of need.
  is_quota boolean[];
  used bigint[];
  wants integer[];
  is_short boolean[];
  place record;
  answer record;
  demand jsonb;
  need jsonb;
  -- Of each target of a demand: its place, its limit, and what is left of what is reserved.
  spots integer[];
  limits integer[];
  reserved integer[];
  cost integer;
  passing integer;
  allotted integer;
  passed integer[];
  all_passed jsonb[] := '{}';
  answers jsonb[] := '{}';
begin
  -- A crash of Postgres may undo the allotments of the last moments, of limits but not of quotas: a
  -- request that waits for them need not wait for the disk.
  if not places @? '$[*].period ? (@ != null)' then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  -- In one order in all processes: two statements cannot wait for each other. What is only given back
  -- makes no row.
  insert into svc."__svc.auth.windows" (subject, per_seconds, unused_after)
  select p.subject, p.seconds, 'infinity'
    from jsonb_to_recordset(places) as p (subject text, seconds integer, demanded boolean, ahead integer)
   where p.seconds is not null and (p.demanded or p.ahead > 0)
   order by p.subject collate "C", p.seconds
      on conflict do nothing;
  insert into svc."__svc.auth.quotas" (subject, period, period_start, allotted)
  select p.subject, one, '-infinity', 0
    from jsonb_to_recordset(places)
           as p (subject text, period text, periods text[], demanded boolean, ahead integer),
         unnest(coalesce(p.periods, array[p.period])) as one
   where p.period is not null and (p.demanded or p.ahead > 0)
   order by p.subject collate "C", one collate "C"
      on conflict do nothing;
  perform from svc."__svc.auth.windows" as r
    join jsonb_to_recordset(places) as p (subject text, seconds integer)
      on r.subject = p.subject and r.per_seconds = p.seconds
   order by r.subject, r.per_seconds for update of r;
  perform from svc."__svc.auth.quotas" as r
    join jsonb_to_recordset(places) as p (subject text, period text, periods text[])
      on r.subject = p.subject and r.period = any (coalesce(p.periods, array[p.period]))
   order by r.subject, r.period for update of r;
  -- Read under the locks, so that a later allotment has a later time.
  now_ms := coalesce(at_ms, extract(epoch from clock_timestamp())::float8 * 1000);

  select array_agg(p.period is not null order by p.place),
         array_agg(case when p.period is null then of_window.used else coalesce(of_quota.allotted, 0) end
                   order by p.place),
         array_agg(0),
         array_agg(false)
    into is_quota, used, wants, is_short
    from rows from (jsonb_to_recordset(places)
           as (subject text, seconds integer, period text, returned integer, stamp float8))
         with ordinality as p (subject, seconds, period, returned, stamp, place)
    left join lateral (
      -- Without what "allotment_of_window" takes back.
      select greatest(0, sum(entry.count)
               - case when p.stamp + p.seconds * 1000.0 > now_ms
                   then least(p.returned, coalesce(sum(entry.count) filter (where entry.at >= p.stamp), 0))
                   else 0 end) as used
        from svc."__svc.auth.windows" as r, unnest(r.allotted_at, r.allotted) as entry (at, count)
       where r.subject = p.subject and r.per_seconds = p.seconds
         and entry.at + r.per_seconds * 1000.0 > now_ms) as of_window on true
    left join svc."__svc.auth.quotas" as of_quota
      on of_quota.subject = p.subject and of_quota.period = p.period
     and of_quota.period_start
         >= svc."__svc.auth.period_start"(of_quota.period, to_timestamp(now_ms / 1000));

  for demand in select jsonb_array_elements(demands) loop
    select array_agg((value ->> 0)::integer + 1), array_agg((value ->> 1)::integer),
           array_agg((value ->> 2)::integer)
      into spots, limits, reserved
      from jsonb_array_elements(demand -> 'on');
    passed := '{}';
    for need in select jsonb_array_elements(demand -> 'needs') loop
      passing := need -> 1;
      for n in 1 .. cardinality(spots) loop
        cost := case when is_quota[spots[n]] then (need -> 0)::integer else 1 end;
        if cost > 0 then
          passing := least(passing, greatest(0, limits[n] - used[spots[n]] + reserved[n]) / cost);
        end if;
      end loop;
      for n in 1 .. cardinality(spots) loop
        cost := case when is_quota[spots[n]] then (need -> 0)::integer else 1 end;
        allotted := greatest(0, passing * cost - reserved[n]);
        reserved[n] := greatest(0, reserved[n] - passing * cost);
        used[spots[n]] := used[spots[n]] + allotted;
        wants[spots[n]] := wants[spots[n]] + allotted;
        is_short[spots[n]] := is_short[spots[n]] or passing < (need -> 1)::integer;
      end loop;
      passed := passed || passing;
    end loop;
    all_passed := all_passed || to_jsonb(passed);
  end loop;

  for place in
    select * from rows from (jsonb_to_recordset(places) as (subject text, seconds integer,
      period text, periods text[], "limit" integer, ahead integer, held integer, returned integer,
      stamp float8)) with ordinality as p (subject, seconds, period, periods, lim, ahead, held, returned, stamp, nth)
  loop
    if is_short[place.nth] then place.ahead := 0; end if;
    if place.seconds is null then
      select * into answer from svc."__svc.auth.allotment_of_quota"(place.subject, place.period,
        coalesce(place.periods, array[place.period]), place.lim, wants[place.nth], place.ahead, place.returned, place.stamp, now_ms);
    else
      select * into answer from svc."__svc.auth.allotment_of_window"(place.subject, place.seconds, place.lim,
        holder, late_ms, wants[place.nth], place.ahead, place.held, place.returned, place.stamp,
        now_ms);
    end if;
    answers := answers || jsonb_build_array(answer.ahead, answer.stamp, answer.used, answer.valid_ms,
      answer.retry_ms);
  end loop;
  return jsonb_build_object('passed', all_passed, 'places', answers);
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.auth.allotment_of_quota"(whose text, quota_period text, periods text[], lim integer, want integer, wanted_ahead integer, returned integer, returned_stamp double precision, now_ms double precision, OUT ahead integer, OUT stamp double precision, OUT used bigint, OUT valid_ms double precision, OUT retry_ms double precision)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  q svc."__svc.auth.quotas";
  at timestamptz := to_timestamp(now_ms / 1000);
  starts timestamptz := svc."__svc.auth.period_start"(quota_period, at);
  starts_ms float8;
begin
  used := 0;
  ahead := 0;
  select * into q from svc."__svc.auth.quotas" as r
   where r.subject = whose and r.period = quota_period;
  -- Where the clock was set back the later period goes on.
  if q.period_start > starts then starts := q.period_start; end if;
  starts_ms := extract(epoch from starts)::float8 * 1000;
  select greatest(starts_ms,
           extract(epoch from max(svc."__svc.auth.period_start"(one, at)))::float8 * 1000)
    into stamp from unnest(periods) as one;
  if quota_period <> 'total' then
    valid_ms := extract(epoch from (starts at time zone 'utc' + ('1 ' || quota_period)::interval)
      at time zone 'utc')::float8 * 1000 - now_ms;
    retry_ms := valid_ms;
  end if;
  if q.period is null then return; end if;
  used := case when q.period_start = starts then q.allotted else 0 end;
  if returned_stamp >= starts_ms then used := greatest(0, used - returned); end if;
  -- A tenth of what is left: the last ones are taken one by one.
  ahead := greatest(0, least(wanted_ahead, (lim - used - want) / 10));
  used := used + want + ahead;
  update svc."__svc.auth.quotas" as r
     set period_start = starts, allotted = used
   where r.subject = whose and r.period = quota_period
     and (r.period_start, r.allotted) is distinct from (starts, used);
  update svc."__svc.auth.quotas" as r
     set period_start = greatest(r.period_start, begun.starts),
         allotted = want + ahead + case when r.period_start < begun.starts then 0
           when returned_stamp < extract(epoch from r.period_start) * 1000 then r.allotted
           else greatest(0, r.allotted - returned) end
    from (select one as period, svc."__svc.auth.period_start"(one, at) as starts
            from unnest(periods) as one where one <> quota_period) as begun
   where r.subject = whose and r.period = begun.period;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.auth.allotment_of_window"(whose text, seconds integer, lim integer, holder uuid, late_ms double precision, want integer, wanted_ahead integer, held_here integer, returned integer, returned_stamp double precision, now_ms double precision, OUT ahead integer, OUT stamp double precision, OUT used bigint, OUT valid_ms double precision, OUT retry_ms double precision)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  w svc."__svc.auth.windows";
  window_ms float8 := seconds * 1000.0;
  -- How long a process may hold allowances ahead of need. After a kill the part of the tenth that the
  -- process held is missing for as long.
  hold_ms float8 := least(window_ms, greatest(60000, least(window_ms / 12, 300000)));
  slice_ms float8 := case when lim > 128 then window_ms / 128 end;
  most_ahead integer := case when lim > 10 then lim / 10 else 0 end;
  times float8[] := '{}';
  counts integer[] := '{}';
  -- The holders that are left, and what they hold.
  ids uuid[] := '{}';
  amounts integer[] := '{}';
  ends float8[] := '{}';
  others integer := 0;
  first_at float8;
  found_at integer;
  less integer;
  is_changed boolean := want > 0;
begin
  used := 0;
  ahead := 0;
  select * into w from svc."__svc.auth.windows" as r
   where r.subject = whose and r.per_seconds = seconds;
  if not found then return; end if;
  stamp := now_ms + late_ms;

  if returned > 0 then
    -- The oldest of those since `returned_stamp` become less: what is used is never counted for less than a
    -- window, and what was used before that leaves it in its time.
    select array_agg(at order by at), array_agg(count order by at) into w.allotted_at, w.allotted
      from unnest(w.allotted_at, w.allotted) as entry (at, count);
  end if;
  for i in 1 .. coalesce(cardinality(w.allotted_at), 0) loop
    if w.allotted_at[i] + window_ms <= now_ms then continue; end if;
    less := case when returned_stamp + window_ms > now_ms and w.allotted_at[i] >= returned_stamp
      then least(returned, w.allotted[i]) else 0 end;
    if less > 0 then
      returned := returned - less;
      w.allotted[i] := w.allotted[i] - less;
      is_changed := true;
    end if;
    -- A time far ahead: the clock was set back. What it counts is used at the latest by the end of the
    -- longest late_ms.
    if w.allotted_at[i] > now_ms + 5000 then
      w.allotted_at[i] := now_ms + 2000;
      is_changed := true;
    end if;
    if w.allotted[i] > 0 then
      times := times || w.allotted_at[i];
      counts := counts || w.allotted[i];
      used := used + w.allotted[i];
      if floor(w.allotted_at[i] / slice_ms) = floor(stamp / slice_ms) then
        found_at := cardinality(times);
      end if;
    end if;
  end loop;

  for i in 1 .. cardinality(w.holders) loop
    if w.holders[i] = holder then
      valid_ms := least(w.held_until[i] - now_ms, hold_ms);
      is_changed := is_changed or w.held[i] <> held_here;
    elsif w.held_until[i] > now_ms then
      ids := ids || w.holders[i];
      amounts := amounts || w.held[i];
      ends := ends || least(w.held_until[i], now_ms + hold_ms);
      is_changed := is_changed or w.held_until[i] > now_ms + hold_ms;
      others := others + w.held[i];
    end if;
  end loop;
  -- An even share of what may be held in all, and never more than is left of it.
  ahead := greatest(0, least(wanted_ahead, lim - used - want, most_ahead - others - held_here,
    ceil(most_ahead::float8 / (cardinality(ids) + 1))::integer - held_here));
  if wanted_ahead > 0 or held_here > 0 then
    -- What it holds ends as before where nothing else is written.
    if ahead > 0 or valid_ms is null or valid_ms < hold_ms * 0.7 then
      valid_ms := hold_ms;
      is_changed := true;
    end if;
    ids := ids || holder;
    amounts := amounts || held_here + ahead;
    ends := ends || now_ms + valid_ms;
  end if;

  if want + ahead > 0 then
    if found_at is null then
      times := times || stamp;
      counts := counts || want + ahead;
    else
      times[found_at] := greatest(times[found_at], stamp);
      counts[found_at] := counts[found_at] + want + ahead;
      stamp := times[found_at];
    end if;
    used := used + want + ahead;
  end if;
  select greatest(0, min(at) + window_ms - now_ms) into retry_ms
    from unnest(times) as at having count(*) > 0;
  -- Else nothing but times that have passed would be written.
  if not is_changed then return; end if;
  update svc."__svc.auth.windows" as r
     set allotted_at = times, allotted = counts, holders = ids, held = amounts, held_until = ends,
         unused_after = date_trunc('hour', to_timestamp((now_ms + window_ms) / 1000))
           + interval '2 hours'
   where r.subject = whose and r.per_seconds = seconds;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.auth.name_audit"()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  is_user boolean := new.actor_user_id ~ '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$';
begin
  if new.actor_key_id is not null then
    select coalesce(keys.label, users.name) into new.actor_name
      from svc."__svc.auth.api_keys" as keys
      left join svc."__svc.auth.users" as users on users.id = keys.user_id
     where keys.id = new.actor_key_id;
  elsif is_user then
    select name into new.actor_name from svc."__svc.auth.users" where id = new.actor_user_id::uuid;
  end if;
  if new.target_kind = 'key' then
    select coalesce(keys.label, users.name) into new.target_name
      from svc."__svc.auth.api_keys" as keys
      left join svc."__svc.auth.users" as users on users.id = keys.user_id
     where keys.id = new.target_id::uuid;
  elsif new.target_kind = 'user' then
    select name into new.target_name from svc."__svc.auth.users" where id = new.target_id::uuid;
    new.target_name := coalesce(new.target_name, new.changes -> 'name' ->> 'from');
  end if;
  return new;
exception
  when insufficient_privilege or undefined_table or invalid_text_representation then return new;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.auth.period_start"(quota_period text, at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select case quota_period when 'total' then to_timestamp(0)
    else date_trunc(quota_period, at, 'utc') end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.auth.tell_changed"(changed text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  update svc."__svc.auth.epoch"
     set epoch = epoch + cardinality(changed),
         dropped = (dropped || changed)
           [greatest(1, cardinality(dropped) + cardinality(changed) - 255):],
         marks = (marks || array_fill(random(), array[cardinality(changed)]))
           [greatest(1, cardinality(dropped) + cardinality(changed) - 255):];
  perform pg_notify('__svc.auth.keys_changed', '');
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.auth.tell_changed_keys"()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  changed text[];
begin
  if tg_op = 'UPDATE' then
    select array_agg(was.key_hash) into changed
      from was join now using (id)
     where was.key_hash is not null
       and (was.key_hash, was.user_id, was.scopes, was.expires_at, was.revoked_at,
            was.tenant, was.enabled, was.allowed_ips, was.limits, was.quota, was.allowances_of)
        is distinct from (now.key_hash, now.user_id, now.scopes, now.expires_at, now.revoked_at,
                          now.tenant, now.enabled, now.allowed_ips, now.limits, now.quota,
                          now.allowances_of);
  else
    select array_agg(was.key_hash) into changed from was where was.key_hash is not null;
  end if;
  if changed is not null then
    perform svc."__svc.auth.tell_changed"(changed);
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.auth.tenant_of_key"()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  new.tenant := coalesce(
    (select users.tenant from svc."__svc.auth.users" as users where users.id = new.user_id),
    new.tenant);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.claim_restricted"(queue_name text, recipients text[], mosts integer[], owner text, begins_within_ms integer, told_permits uuid[], told_after_ms double precision[], told_took_ms double precision[], ended_jobs uuid[], are_probes boolean)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
 SET jit TO 'off'
AS $function$
#variable_conflict use_column
declare
  wanted record;
  its record;
  head record;
  span interval;
  -- A request may reach its receiver so much later than it was begun, but not after its end.
  on_the_way_ms float8;
  -- Attempts that may begin: by the cap of attempts at a time, and by the rate. Null: any number.
  slots_free int;
  rate_free int;
  most int;
  ids uuid[];
  claimed json;
  jobs json[] := '{}';
  count_claimed int;
  count_permits int;
  due_by timestamptz;
  wait_until timestamptz;
  -- Whether jobs of the recipient wait, and whether some of them do not wait aside yet.
  is_waiting boolean;
  has_others boolean;
  -- What the process can expect of each recipient.
  answers json[] := '{}';
begin
  for wanted in
    select recipient, most from unnest(recipients, mosts) as given (recipient, most) order by recipient
  loop
    -- A lock would be a write, and others pass over a locked row.
    select count(*) > 0, coalesce(bool_or(lane > -2), false) into is_waiting, has_others
      from unnest(array[-2, -1, 0]) as lane
     where (select true from svc_jobs.job as job
             where job.name = queue_name and job.priority = lane and job.singleton_key = wanted.recipient
               and job.blocked and job.state < 'active' limit 1);
    if cardinality(told_permits) = 0 and not is_waiting then
      answers := answers
        || json_build_object('recipient', wanted.recipient, 'isTold', true, 'isBusy', false);
      continue;
    end if;

    select * into its from svc."__svc.recipient_states" as known
     where known.queue = queue_name and known.recipient = wanted.recipient
       and (known.restricted or are_probes)
       for no key update skip locked;
    if not found or its.held <> are_probes then
      -- Others have it for a moment: another claim, or a publish that may leave a job.
      answers := answers
        || json_build_object('recipient', wanted.recipient, 'isTold', false, 'isBusy', found,
                             'waitMs', case when not found then 0 end);
      continue;
    end if;

    most := wanted.most;
    slots_free := null;
    rate_free := null;
    wait_until := null;
    ids := '{}';
    count_claimed := 0;

    if its.rate_limit is not null then
      span := its.rate_seconds * interval '1 second';
      on_the_way_ms := least(500 * its.rate_seconds, 1000);
      if cardinality(told_permits) > 0 then
        delete from svc."__svc.attempt_permits" as permitted
         where permitted.id = any(array(
                 select id from unnest(told_permits, told_after_ms) as told (id, after_ms)
                  where after_ms is null))
           and permitted.queue = queue_name and permitted.recipient = wanted.recipient;
        update svc."__svc.attempt_permits" as permitted
           set begun_by = least(permitted.begun_by, permitted.permitted_at + interval '1 millisecond'
                 * (told.after_ms + least(told.took_ms, on_the_way_ms)))
          from unnest(told_permits, told_after_ms, told_took_ms) as told (id, after_ms, took_ms)
         where permitted.id = told.id and told.after_ms is not null
           and permitted.queue = queue_name and permitted.recipient = wanted.recipient;
      end if;
      delete from svc."__svc.attempt_permits" as permitted
       where permitted.queue = queue_name and permitted.recipient = wanted.recipient
         and permitted.begun_by <= clock_timestamp() - span;
      select its.rate_limit - coalesce(sum(permitted.attempts), 0), count(*)
        into rate_free, count_permits
        from svc."__svc.attempt_permits" as permitted
       where permitted.queue = queue_name and permitted.recipient = wanted.recipient;
      most := least(most, rate_free);
      -- Few rows stand for many attempts: those of each 200th of the span count until the last ends.
      if count_permits > 1000 then
        with older as (
          delete from svc."__svc.attempt_permits" as permitted
           where permitted.queue = queue_name and permitted.recipient = wanted.recipient
             and permitted.permitted_at < clock_timestamp() - interval '5 seconds'
          returning permitted_at, begun_by, attempts
        )
        insert into svc."__svc.attempt_permits" (id, queue, recipient, permitted_at, begun_by, attempts)
        select gen_random_uuid(), queue_name, wanted.recipient, max(permitted_at), max(begun_by), sum(attempts)
          from older
         group by floor(extract(epoch from begun_by) * 200 / its.rate_seconds);
      end if;
    end if;

    if its.ordered or its.max_in_flight is not null then
      select case when its.ordered then 1 else its.max_in_flight end - count(*)
        into slots_free
        from svc_jobs.job as job
       where job.name = queue_name and job.group_id = wanted.recipient and job.state = 'active'
         and job.id <> all(ended_jobs);
      most := least(most, slots_free);
    end if;

    -- Those that wait since before it was restricted.
    if has_others then
      update svc_jobs.job as job set priority = -2
       where job.name = queue_name and job.id = any(array(
               select other.id from unnest(array[-1, 0]) as lane
                cross join lateral (
                  select job.id from svc_jobs.job as job
                   where job.name = queue_name and job.priority = lane
                     and job.singleton_key = wanted.recipient and job.blocked and job.state < 'active'
                   order by job.start_after limit 500
                     for update skip locked) as other));
    end if;
    due_by := case when are_probes then 'infinity' else clock_timestamp() end;
    -- The job is chosen after the attempts were counted: one that failed meanwhile may come first. An older job may be
    -- among those that are left.
    if most > 0 and its.ordered and svc."__svc.waits_elsewhere"(queue_name, wanted.recipient) then
      wait_until := clock_timestamp();
    elsif most > 0 and its.ordered then
      select job.id, job.start_after into head from svc_jobs.job as job
       where job.name = queue_name and job.singleton_key = wanted.recipient
         and job.blocked and job.state < 'active' and job.priority = -2
       order by job.created_on, job.id limit 1;
      if found and head.start_after <= due_by then
        -- Another one must not take its place where it is being changed just now.
        ids := array(select job.id from svc_jobs.job as job
                      where job.name = queue_name and job.id = head.id
                        and job.blocked and job.state < 'active' and job.start_after <= due_by
                        for update skip locked);
      end if;
      if cardinality(ids) = 0 then
        wait_until := head.start_after;
      end if;
    elsif most > 0 then
      ids := array(select job.id from svc_jobs.job as job
                    where job.name = queue_name and job.priority = -2
                      and job.singleton_key = wanted.recipient
                      and job.blocked and job.state < 'active' and job.start_after <= due_by
                    order by job.start_after limit most
                    for update skip locked);
    end if;

    if cardinality(ids) > 0 then
      -- A claim that a crash of Postgres forgot would let others begin while the attempt runs.
      perform set_config('synchronous_commit', 'on', true);
      with claimed as (
        update svc_jobs.job as job
           set state = 'active', started_on = clock_timestamp(),
               group_tier = "__svc.claim_restricted".owner,
               retry_count = job.retry_count + (job.started_on is not null)::int
         where job.name = queue_name and job.id = any(ids)
        returning job.*
      ), marked as materialized (
        select claimed.*,
               case when its.rate_limit is not null then gen_random_uuid() end as permit_id
          from claimed
      ), permitted as (
        insert into svc."__svc.attempt_permits" (id, queue, recipient, permitted_at, begun_by)
        select permit_id, queue_name, wanted.recipient, clock_timestamp(),
               clock_timestamp() + (begins_within_ms + on_the_way_ms) * interval '1 millisecond'
          from marked where permit_id is not null
      )
      select count(*),
             json_agg(json_build_object(
               'id', id, 'data', data, 'retryCount', retry_count, 'retryLimit', retry_limit,
               'groupId', group_id, 'createdOn', extract(epoch from created_on)::float8 * 1000,
               'startedOn', started_on::text,
               'isRestricted', its.restricted, 'permitId', permit_id)
               order by start_after)
        into count_claimed, claimed from marked;
      jobs := jobs || claimed;
    end if;

    if rate_free - count_claimed <= 0 then
      -- When so many have left the span that one more may begin.
      select passing.begun_by + span into wait_until
        from (select permitted.begun_by, sum(permitted.attempts) over (order by permitted.begun_by) as gone
                from svc."__svc.attempt_permits" as permitted
               where permitted.queue = queue_name and permitted.recipient = wanted.recipient) as passing
       where passing.gone > count_claimed - rate_free
       order by passing.begun_by limit 1;
    elsif wait_until is null and count_claimed < most and not its.ordered then
      select job.start_after into wait_until from svc_jobs.job as job
       where job.name = queue_name and job.priority = -2 and job.singleton_key = wanted.recipient
         and job.blocked and job.state < 'active'
       order by job.start_after limit 1;
    end if;
    answers := answers || json_build_object(
      'recipient', wanted.recipient,
      'isTold', true,
      'isBusy', slots_free - count_claimed <= 0,
      'hasMore', count_claimed = wanted.most and (
                   select true from svc_jobs.job as job
                    where job.name = queue_name and job.priority = -2 and job.singleton_key = wanted.recipient
                      and job.blocked and job.state < 'active' limit 1) is not null,
      -- Null where nothing waits: the time alone brings no job then.
      'waitMs', case when wait_until is not null
                     then greatest(0, extract(epoch from wait_until - clock_timestamp())::float8 * 1000) end);
  end loop;
  return json_build_object('jobs', to_json(jobs), 'answers', to_json(answers))::text;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.console.erase_tenant"(which text)
 RETURNS TABLE(kind text, erased bigint)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  links bigint;
  ended bigint;
begin
  delete from svc."__svc.console.portal_codes" where tenant = which;
  get diagnostics links = row_count;
  delete from svc."__svc.console.sessions" where tenant = which or login ->> 'tenant' = which;
  get diagnostics ended = row_count;
  return query select 'sessions', links + ended;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.console.notify_change"()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform pg_notify('svc.console.changes', '');
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.console.notify_ended"()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform pg_notify('svc.console.ended', '');
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.dead_letter_id"()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  new.id := overlay(
    overlay(gen_random_uuid()::text placing left(svc."__svc.first_uuid"(new.created_on)::text, 13) from 1 for 13)
    placing '7' from 15 for 1)::uuid;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.feed_end"(OUT last bigint, OUT settled bigint)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  -- A lock has the lowest 31 bits of its number. How far it is ahead of the last position, negative behind it.
  ahead bigint;
begin
  last := coalesce(pg_sequence_last_value('svc."__svc.event_positions"'::regclass), 0);
  select min((lock.objid::bigint - last + 1073741824) & 2147483647) - 1073741824 into ahead
    from pg_locks as lock
   where lock.locktype = 'advisory' and lock.classid = 7763009 and lock.objsubid = 2
     and lock.database = (select oid from pg_database where datname = current_database());
  settled := last + least(coalesce(ahead, 0), 0);
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.filter_set"(event_name text, tenant text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
RETURN hashtextextended(((event_name || ' '::text) || tenant), (0)::bigint);

CREATE OR REPLACE FUNCTION svc."__svc.find_filters"(names text[], tenants text[], snapshots text[], readers text[], servers text[], read_at double precision[], kept_seconds double precision)
 RETURNS TABLE(set text, subscription text, recipient text, filter text)
 LANGUAGE sql
 STABLE
BEGIN ATOMIC
 WITH filter_set AS MATERIALIZED (
          SELECT seen.n,
             seen.name,
             seen.tenant,
             (((seen.snapshot IS NOT NULL) AND (seen.server = svc."__svc.of_snapshots"()) AND (seen.read_at > ((EXTRACT(epoch FROM now()))::double precision - "__svc.find_filters".kept_seconds)) AND (NOT (EXISTS ( SELECT
                    FROM svc."__svc.filter_changes" change
                   WHERE ((change.filter_set = svc."__svc.filter_set"(seen.name, seen.tenant)) AND (change.changed_by >= pg_snapshot_xmin(seen.snapshot)) AND ((change.changed_by = seen.reader) OR (NOT pg_visible_in_snapshot(change.changed_by, seen.snapshot)))))))) IS NOT TRUE) AS is_stale,
             (EXISTS ( SELECT
                    FROM svc."__svc.filter_changes" change
                   WHERE ((change.filter_set = svc."__svc.filter_set"(seen.name, seen.tenant)) AND (change.changed_by = pg_current_xact_id_if_assigned())))) AS is_own
            FROM UNNEST("__svc.find_filters".names, "__svc.find_filters".tenants, (array_replace("__svc.find_filters".snapshots, ''::text, NULL::text))::pg_snapshot[], (array_replace("__svc.find_filters".readers, ''::text, NULL::text))::xid8[], "__svc.find_filters".servers, "__svc.find_filters".read_at) WITH ORDINALITY seen(name, tenant, snapshot, reader, server, read_at, n)
         )
  SELECT NULL::text AS text,
     NULL::text AS text,
     NULL::text AS text,
     (json_build_object('seen', json_build_object('snapshot', (pg_current_snapshot())::text, 'reader', (pg_current_xact_id_if_assigned())::text, 'server', svc."__svc.of_snapshots"(), 'readAt', EXTRACT(epoch FROM now())), 'stale', COALESCE(json_agg(filter_set.n) FILTER (WHERE filter_set.is_stale), '[]'::json), 'own', COALESCE(json_agg(filter_set.n) FILTER (WHERE filter_set.is_own), '[]'::json)))::text AS json_build_object
    FROM filter_set
 UNION ALL
  SELECT (filter_set.n)::text AS n,
     its.subscription,
     (its.recipient)::text AS recipient,
     (its.filter)::text AS filter
    FROM (filter_set
      CROSS JOIN LATERAL ( SELECT known.subscription,
             known.recipient,
             known.filter
            FROM svc."__svc.recipients" known
           WHERE ((known.event_name = filter_set.name) AND (known.tenant = filter_set.tenant) AND (known.filter IS NOT NULL))
          OFFSET 0) its)
   WHERE filter_set.is_stale;
END;

CREATE OR REPLACE FUNCTION svc."__svc.first_uuid"(at timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE
RETURN ((lpad(to_hex(CASE WHEN (at < '1970-01-01 00:00:00+00'::timestamp with time zone) THEN (0)::bigint ELSE (floor((EXTRACT(epoch FROM at) * (1000)::numeric)))::bigint END), 12, '0'::text) || repeat('0'::text, 20)))::uuid;

CREATE OR REPLACE FUNCTION svc."__svc.folded"(given text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN TRIM(BOTH FROM regexp_replace(translate(upper(lower((CASE WHEN (octet_length(given) = length(given)) THEN given ELSE NORMALIZE(regexp_replace(NORMALIZE(given, NFKD), '[̀-ͯ҃-҉֑-ׇֽֿׁׂׅׄؐ-ًؚ-ٰٟ᪰-᫿᷀-᷿⃐-⃿︠-︯]'::text, ''::text, 'g'::text), NFKC) END COLLATE "und-x-icu"))), 'ØŁĐÐĦŦ'::text, 'OLDDHT'::text), '[^[:alnum:]ऀ-ॣ०-෿ั-๎ັ-ໍཱ-྄ါ-ှ឴-៓゙゚]+'::text, ' '::text, 'g'::text));

CREATE OR REPLACE FUNCTION svc."__svc.hand_over"()
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  owner oid := (select relowner from pg_class where oid = 'svc."__svc.migrations"'::regclass);
  maker oid := (select oid from pg_roles where rolname = current_user);
  made text;
begin
  if owner = maker then return; end if;
  -- Processes that boot together take turns.
  perform pg_advisory_xact_lock(7763006);
  for made in
    with schema as (
      select oid, nspname, nspowner from pg_namespace where nspname in ('svc', 'svc_jobs')
    )
    select format('schema %I', nspname) from schema where nspowner = maker
    union all
    -- Indexes follow their table, and sequences of a column as well.
    select format('table %I.%I', nspname, relname)
      from schema join pg_class on relnamespace = schema.oid
     where relowner = maker and relkind in ('r', 'p', 'v', 'm')
    union all
    select format('routine %s', pg_proc.oid::regprocedure)
      from schema join pg_proc on pronamespace = schema.oid
     where proowner = maker
    union all
    select format('type %I.%I', nspname, typname)
      from schema join pg_type on typnamespace = schema.oid
     where typowner = maker and typtype in ('d', 'e')
  loop
    begin
      execute format('alter %s owner to %I', made, pg_get_userbyid(owner));
    exception when insufficient_privilege then
      -- The role is no member of the owner, or the owner may make nothing in the schema: it stays, and works.
      null;
    end;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.held"(event_names text[], event_ids text[], deduplication_keys text[])
 RETURNS integer[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  held int[] := '{}';
begin
  perform set_config('lock_timeout', '2', true);
  for n in 1 .. cardinality(event_ids) loop
    begin
      if deduplication_keys[n] = '' then
        insert into svc."__svc.events" (name, id, payload) values (event_names[n], event_ids[n], 'null')
        on conflict (name, id) do nothing;
      else
        insert into svc."__svc.kv" (key, value) values (deduplication_keys[n], 'true')
        on conflict (key) do update set value = excluded.value;
      end if;
      raise exception using errcode = 'SV000';
    exception
      when sqlstate 'SV000' then null;
      when lock_not_available then held := held || n;
    end;
  end loop;
  return held;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.is_idle"(queue_name text, recipient_name text, except_jobs uuid[])
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return not exists (
    select from unnest(array[-2, -1, 0]) as lane
     where (select true from svc_jobs.job as job
             where job.name = queue_name and job.priority = lane and job.singleton_key = recipient_name
               and job.blocked and job.state < 'active' limit 1))
    and not exists (
      select from svc_jobs.job as job
       where job.name = queue_name and job.group_id = recipient_name and job.state = 'active'
         and job.id <> all(except_jobs));
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.lift_restrictions"(queue_name text, recipient_name text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  update svc."__svc.recipient_states" as known
     set restricted = false, rate_limit = null, rate_seconds = null, max_in_flight = null,
         ordered = false, changed_by = pg_current_xact_id()
   where known.queue = queue_name and known.recipient = recipient_name and known.restricted;
  delete from svc."__svc.attempt_permits" as permitted
   where permitted.queue = queue_name and permitted.recipient = recipient_name;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.mark_of"(published timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
 STABLE
RETURN (((EXTRACT(epoch FROM published) * (1000000)::numeric))::bigint % (1000000000)::bigint);

CREATE OR REPLACE FUNCTION svc."__svc.mark_of_position"(of bigint)
 RETURNS bigint
 LANGUAGE sql
 STABLE
RETURN (SELECT svc."__svc.mark_of"("__svc.events".published_at) AS "__svc.mark_of" FROM svc."__svc.events" WHERE ("__svc.events"."position" = "__svc.mark_of_position".of));

CREATE OR REPLACE FUNCTION svc."__svc.names_that_mean"(event_name text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
BEGIN ATOMIC
 SELECT array_agg(
         CASE n.n
             WHEN 0 THEN "__svc.names_that_mean".event_name
             WHEN 1 THEN '*'::text
             ELSE (array_to_string((string_to_array("__svc.names_that_mean".event_name, '.'::text))[:(n.n - 1)], '.'::text) || '.*'::text)
         END) AS array_agg
    FROM generate_series(0,
         CASE
             WHEN starts_with("__svc.names_that_mean".event_name, 'svc.'::text) THEN 0
             ELSE cardinality(string_to_array("__svc.names_that_mean".event_name, '.'::text))
         END) n(n);
END;

CREATE OR REPLACE FUNCTION svc."__svc.newest_position"(OUT newest bigint, OUT mark bigint)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  feed_end record;
begin
  select * into feed_end from svc."__svc.feed_end"();
  newest := greatest((select max(position) from svc."__svc.events" where position <= feed_end.settled),
                     (select deleted_to from svc."__svc.feed"));
  mark := svc."__svc.mark_of_position"(newest);
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.note_filter_change"()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if old.filter is not null then
    insert into svc."__svc.filter_changes" (filter_set)
    values (svc."__svc.filter_set"(old.event_name, old.tenant));
  end if;
  if new.filter is not null then
    insert into svc."__svc.filter_changes" (filter_set)
    values (svc."__svc.filter_set"(new.event_name, new.tenant));
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.note_first_filter"()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into svc."__svc.filter_changes" (filter_set, first_of)
  select svc."__svc.filter_set"(old.event_name, old.tenant), old.recipient
   where exists (
     select from svc."__svc.recipients"
      where subscription = old.subscription and recipient = old.recipient and filter is not null);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.note_tenant"()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into svc."__svc.tenants" (tenant)
  select new.tenant
   where not exists (select from svc."__svc.tenants" where tenant = new.tenant);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.of_snapshots"()
 RETURNS text
 LANGUAGE sql
 STABLE
RETURN CASE WHEN (NOT pg_is_in_recovery()) THEN ((EXTRACT(epoch FROM pg_postmaster_start_time()) || ' '::text) || EXTRACT(epoch FROM pg_stat_get_bgwriter_stat_reset_time())) ELSE NULL::text END;

CREATE OR REPLACE FUNCTION svc."__svc.publish"(event_names text[], event_ids text[], payloads text[], tenants text[], trace_contexts text[], deduplication_keys text[], deduplication_seconds double precision[], asked_events integer[], filters_seen pg_snapshot, asks_again boolean, matched_events integer[], matched_subscriptions text[], matched_recipients uuid[], undecided boolean[], offered_queues text[], offered_slots integer[], full_recipients text[], owner text, ended_jobs uuid[], retry_limit integer, retry_delay integer, retry_backoff boolean, retry_delay_max integer, attached_function text, attached_rows json, lock_ms integer, changes text[], commits_at_once boolean)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET jit TO 'off'
AS $function$
#variable_conflict use_column
declare
  -- Events whose filters were not asked, from 1, and a recipient has one.
  filtered int[];
  -- Null, or which of the events to publish, from 1.
  due int[];
  -- Null where all events are new, or which of them, from 1.
  created int[];
  created_names text[];
  created_ids text[];
  -- The jobs that follow: for which event, in which queue, and for whom ...
  job_events int[];
  job_queues text[];
  job_recipients text[];
  job_versions uuid[];
  -- ... with a filter that is not decided: null, or of each.
  job_filters jsonb[];
  -- Those of recipients with a filter.
  admitted_events int[];
  admitted_queues text[];
  admitted_recipients text[];
  admitted_filters jsonb[];
  is_changed boolean;
  -- Ordered recipients that are locked, and which of the jobs are the first ones of those with no other.
  ordered text[];
  first_places int[];
  -- Of the jobs.
  claimed json;
  waiting text[];
  restricted json;
  -- A transaction that began after the commit of this one, or a publish that follows in this one, has
  -- a later moment; one microsecond is less than it takes to write a row.
  moment timestamptz := clock_timestamp();
  -- What recipients want is decided as it was then: this function may wait for an event of the same id.
  asked_at pg_snapshot := coalesce(filters_seen, pg_current_snapshot());
  -- Which recipients with a filter are admitted was decided then, if it is.
  admitted_at pg_snapshot := asked_at;
  is_admitted boolean := filters_seen is null;
  is_written boolean := false;
  -- Of the events, where they are taken at once.
  positions bigint[];
  -- Whether readers of the feed wait for an event.
  is_awaited boolean;
begin
  -- What was sent would be read as other characters.
  if current_setting('client_encoding') <> 'UTF8' then
    return null;
  end if;
  if lock_ms is not null then
    perform set_config('lock_timeout', lock_ms::text, true);
  end if;
  tenants := array_replace(tenants, '', null);
  if commits_at_once then
    positions := svc."__svc.take_positions"(cardinality(event_ids), false);
  end if;

  -- A single event, the ordinary case, is written if nobody has a filter: otherwise, and if it exists, it goes
  -- the way of all others.
  if cardinality(event_ids) = 1 and asked_events is null and deduplication_keys is null then
    insert into svc."__svc.events" (name, id, payload, tenant, trace_context, changed, position)
    select event_names[1], event_ids[1], payloads[1], tenants[1], nullif(trace_contexts[1], ''),
           nullif(changes[1], '')::json, positions[1]
     where not exists (select from svc."__svc.recipients" where filter is not null)
        or not exists (
             select from svc."__svc.recipients"
              where filter is not null
                and event_name = any(svc."__svc.names_that_mean"(event_names[1])))
    on conflict (name, id) do nothing;
    is_written := found;
  end if;

  if not is_written and coalesce(cardinality(asked_events), 0) < cardinality(event_ids) then
    -- Nested: filters of other names and other tenants are looked at only where there are some.
    if exists (select from svc."__svc.recipients" where filter is not null) and exists (
         select from svc."__svc.recipients"
          where filter is not null
            and event_name = any(array(
                  select unnest(svc."__svc.names_that_mean"(name))
                    from (select distinct name from unnest(event_names) as name) as given))) then
      select array_agg(n) into filtered
        from (
          select name, tenant, array_agg(n::int) as numbers
            from unnest(event_names, tenants) with ordinality as given (name, tenant, n)
           where (n = any(asked_events)) is not true
           group by name, tenant
        ) as given
       cross join unnest(numbers) as n
       where exists (
         select from svc."__svc.subscriptions" as wants
          cross join unnest(wants.meant_by) as meaning (name)
          cross join lateral (
            select from svc."__svc.recipients" as its
             where its.subscription = wants.subscription and its.event_name = meaning.name
               and its.tenant = '' and its.filter is not null
            union all
            select from svc."__svc.recipients" as its
             where its.subscription = wants.subscription and its.event_name = meaning.name
               and its.tenant = given.tenant and its.filter is not null
            offset 0
          ) as its
          where wants.event_name = given.name and wants.fans_out);
      if filtered is not null then
        return json_build_object('filtered', filtered);
      end if;
    end if;
  end if;
  if filters_seen is not null and asks_again then
    if exists (
         select from (
           select distinct svc."__svc.filter_set"(wanted.name, its.tenant) as filter_set
             from unnest(asked_events) as n
            cross join lateral unnest(svc."__svc.names_that_mean"(event_names[n])) as wanted (name)
            cross join lateral (values (''), (tenants[n])) as its (tenant)
            where its.tenant is not null
         ) as asked
         join svc."__svc.filter_changes" as change on change.filter_set = asked.filter_set
          and change.changed_by >= pg_snapshot_xmin(filters_seen)
          -- Rows that were restored from a dump name transactions of another server.
          and change.changed_by < pg_snapshot_xmax(pg_current_snapshot())
        where change.changed_by is distinct from pg_current_xact_id_if_assigned()
          and not pg_visible_in_snapshot(change.changed_by, filters_seen)) then
      return '{"filtersChanged":true}';
    end if;
  end if;

  -- Rows go in by the order of their key: two batches that share some would deadlock in any other.
  if deduplication_keys is not null then
    deduplication_keys := array_replace(deduplication_keys, '', null);
    with taken as (
      insert into svc."__svc.kv" as kv (key, value, expires_at)
      select key, 'true', clock_timestamp() + make_interval(secs => seconds)
        from unnest(deduplication_keys, deduplication_seconds) as given (key, seconds)
       where key is not null
       order by key collate "C"
      on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at
       where kv.expires_at <= clock_timestamp()
      returning key
    )
    select coalesce(array_agg(given.n::int), '{}') into due
      from unnest(deduplication_keys) with ordinality as given (key, n)
     where given.key is null or (given.key in (select key from taken)) is true;
  end if;

  if not is_written then
    with published as (
      insert into svc."__svc.events" (name, id, payload, tenant, trace_context, changed, position)
      select name, id, payload, tenant, nullif(trace_context, ''), nullif(changed, '')::json, position
        from unnest(event_names, event_ids, payloads, tenants, trace_contexts, changes, positions) with ordinality
               as given (name, id, payload, tenant, trace_context, changed, position, n)
       where due is null or given.n = any(due)
       order by name collate "C", id collate "C"
      on conflict (name, id) do nothing
      returning name, id
    )
    select array_agg(name), array_agg(id) into created_names, created_ids from published;
    -- A batch of many does not wait for a join: hash joins are off here, and a nested loop would compare each
    -- event with each other. "is true" keeps the subquery a hash table.
    if coalesce(cardinality(created_ids), 0) < cardinality(event_ids) then
      created := array(
        select given.n::int from unnest(event_names, event_ids) with ordinality as given (name, id, n)
         where ((given.name, given.id) in (
                 select name, id from unnest(created_names, created_ids) as created (name, id))) is true);
    end if;
  end if;

  loop
    if not is_admitted then
      with first_filter as materialized (
        -- Of recipients that had no filter when they were asked.
        select distinct first_of as recipient from svc."__svc.filter_changes"
         where first_of is not null
           and changed_by >= pg_snapshot_xmin(asked_at)
           and changed_by < pg_snapshot_xmax(pg_current_snapshot())
           and changed_by is distinct from pg_current_xact_id_if_assigned()
           and not pg_visible_in_snapshot(changed_by, asked_at)
      ), admitted as (
        -- One whose filter was removed after it had been asked is among those without one.
        select matched.n, its.subscription, its.recipient::text as recipient,
               case when matched.is_undecided then its.filter end as filter
          from unnest(matched_events, matched_subscriptions, matched_recipients, undecided)
                 as matched (n, subscription, recipient, is_undecided)
         cross join lateral (
           select subscription, recipient, filter from svc."__svc.recipients"
            where subscription = matched.subscription and recipient = matched.recipient
              and event_name = any(svc."__svc.names_that_mean"(event_names[matched.n]))
              and filter is not null
            limit 1
         ) as its
        union all
        select given.n::int, wants.subscription, its.recipient::text, null
          from first_filter
         cross join unnest(event_names, tenants) with ordinality as given (name, tenant, n)
          join svc."__svc.subscriptions" as wants on wants.event_name = given.name and wants.fans_out
         cross join lateral (
           select recipient from svc."__svc.recipients"
            where subscription = wants.subscription and recipient = first_filter.recipient
              and event_name = any(wants.meant_by)
              and (tenant = '' or tenant = given.tenant) and filter is not null
            limit 1
         ) as its
         -- One whose former filter matched is among the matched already.
         where its.recipient <> all(matched_recipients) is not false
      )
      select pg_current_snapshot(), array_agg(admitted.n), array_agg(wants.queue),
             array_agg(admitted.recipient), array_agg(admitted.filter)
        into admitted_at, admitted_events, admitted_queues, admitted_recipients, admitted_filters
        from admitted
        join svc."__svc.subscriptions" as wants
          on wants.event_name = event_names[admitted.n] and wants.subscription = admitted.subscription
       where created is null or admitted.n = any(created);
    end if;

    -- An event that existed is wanted only by subscriptions that ask for replays.
    if cardinality(event_ids) = 1 then
      select exists (
               select from svc."__svc.filter_changes"
                where first_of is not null and changed_by >= pg_snapshot_xmin(admitted_at)),
             array_agg(1), array_agg(wants.queue), array_agg(found.recipient::text), array_agg(found.version)
        into is_changed, job_events, job_queues, job_recipients, job_versions
        from svc."__svc.subscriptions" as wants
        left join lateral (
          select its.recipient, its.version
            from svc."__svc.recipients_of"(wants.subscription, wants.meant_by, tenants[1]) as its
           where wants.fans_out
        ) as found on true
       where wants.event_name = event_names[1]
         and (created is null or not wants.idempotent and deduplication_keys[1] is null)
         and (found.recipient is not null or not wants.fans_out);
    else
      select exists (
               select from svc."__svc.filter_changes"
                where first_of is not null and changed_by >= pg_snapshot_xmin(admitted_at)),
             array_agg(n), array_agg(queue), array_agg(recipient::text), array_agg(version)
        into is_changed, job_events, job_queues, job_recipients, job_versions
        from (
          select n, wanting.queue, found.recipient, found.version
            from (
              -- Recipients are looked up once for all events of one name and one tenant.
              select wants.subscription, wants.queue, wants.fans_out, wants.meant_by, given.tenant,
                     array_agg(given.n::int) as numbers
                from unnest(event_names, tenants) with ordinality as given (name, tenant, n)
                join svc."__svc.subscriptions" as wants
                  on wants.event_name = given.name
                 and (created is null or given.n = any(created)
                      or not wants.idempotent and deduplication_keys[given.n] is null)
               group by wants.event_name, wants.subscription, given.tenant
            ) as wanting
            left join lateral (
              select its.recipient, its.version
                from svc."__svc.recipients_of"(wanting.subscription, wanting.meant_by, wanting.tenant) as its
               where wanting.fans_out
            ) as found on true
           cross join unnest(wanting.numbers) as n
           where found.recipient is not null or not wanting.fans_out
           order by n
        ) as job;
    end if;
    -- Whether a recipient has got its first filter since, so that it is neither among these nor among the
    -- admitted.
    if is_changed then
      is_changed := exists (
        select from svc."__svc.filter_changes"
         where first_of is not null
           and changed_by >= pg_snapshot_xmin(admitted_at)
           and changed_by < pg_snapshot_xmax(pg_current_snapshot())
           and changed_by is distinct from pg_current_xact_id_if_assigned()
           and not pg_visible_in_snapshot(changed_by, admitted_at));
    end if;
    exit when not is_changed;
    is_admitted := false;
  end loop;

  if admitted_events is not null then
    -- One whose filter was removed between the two statements is among the jobs already.
    select job_events || array_agg(n), job_queues || array_agg(queue), job_recipients || array_agg(recipient),
           job_versions || array_agg(null::uuid),
           array_fill(null::jsonb, array[coalesce(cardinality(job_events), 0)]) || array_agg(filter)
      into job_events, job_queues, job_recipients, job_versions, job_filters
      from unnest(admitted_events, admitted_queues, admitted_recipients, admitted_filters)
             as admitted (n, queue, recipient, filter)
     where ((n, recipient) in (
             select n, recipient from unnest(job_events, job_recipients) as job (n, recipient)))
           is not true;
  end if;

  -- No two processes may begin one of the same order: the locks last until the commit, and what is committed
  -- before them the next statement sees. Where others have the lock, the job waits.
  if job_events is not null and ended_jobs is not null
     and current_setting('transaction_isolation') = 'read committed' then
    ordered := array(
      select known.recipient from svc."__svc.recipient_states" as known
       where known.queue = any(offered_queues) and known.recipient = any(job_recipients)
         and known.ordered and known.rate_limit is null and not known.held and not known.circuit_open
         and svc."__svc.is_idle"(known.queue, known.recipient, ended_jobs)
         for no key update skip locked);
    if cardinality(ordered) > 0 then
      first_places := array(
        select min(its.place) from unnest(job_queues, job_recipients) with ordinality as its (queue, recipient, place)
         where its.recipient = any(ordered)
           and svc."__svc.is_idle"(its.queue, its.recipient, ended_jobs)
         group by its.recipient);
    end if;
  end if;

  if job_events is not null then
    with wanted as materialized (
      select gen_random_uuid() as id, its.event, its.queue, its.recipient, its.version, its.filter,
             -- Jobs for a recipient that is held or restricted, or whose circuit is open, wait aside from the
             -- start.
             known.restricted is not null as "isAside",
             known.restricted is true as "isRestricted",
             (known.restricted is null or its.place = any(first_places)) is true
               and its.recipient <> all(full_recipients) is not false
               and its.place <= coalesce(
                     offered_slots[array_position(offered_queues, its.queue)], 0) as "isClaimed"
        from unnest(job_events, job_queues, job_recipients, job_versions, job_filters) with ordinality
               as its (event, queue, recipient, version, filter, place)
        left join lateral (
          -- The lock keeps the row: pumps look for jobs that wait aside by these rows.
          select known.restricted from svc."__svc.recipient_states" as known
           where known.queue = its.queue and known.recipient = its.recipient
             and (known.held or known.circuit_open or known.restricted)
             for key share
        ) as known on true
    ), job as (
      insert into svc_jobs.job
        (id, name, data, state, priority, blocked, singleton_key, group_id, group_tier, started_on,
         created_on, start_after, keep_until, retry_limit, retry_delay, retry_backoff, retry_delay_max,
         expire_seconds, deletion_seconds, policy, dead_letter)
      select wanted.id, wanted.queue,
             jsonb_strip_nulls(jsonb_build_object(
               'event', event_names[wanted.event], 'eventId', event_ids[wanted.event],
               'recipient', wanted.recipient, 'deliveryId', wanted.id))
               -- Not stripped of the nulls in it.
               || case when wanted.filter is null then '{}'
                       else jsonb_build_object('filter', wanted.filter) end,
             case when wanted."isClaimed" then 'active' else 'created' end::svc_jobs.job_state,
             case when wanted."isAside" then -2 else 0 end, wanted.recipient is not null,
             wanted.recipient, wanted.recipient,
             case when wanted."isClaimed" then owner end,
             case when wanted."isClaimed" then now() end,
             moment + wanted.event * interval '1 microsecond', now(),
             now() + queue.retention_seconds * interval '1 second',
             "__svc.publish".retry_limit, "__svc.publish".retry_delay, "__svc.publish".retry_backoff,
             "__svc.publish".retry_delay_max,
             queue.expire_seconds, queue.deletion_seconds, queue.policy, queue.dead_letter
        from wanted
        join svc_jobs.queue as queue on queue.name = wanted.queue
    )
    select json_agg(wanted) filter (where "isClaimed"),
           array_agg(queue) filter (where not "isClaimed" and not "isRestricted"),
           json_agg(json_build_object('queue', queue, 'recipient', recipient))
             filter (where "isRestricted" and not "isClaimed")
      into claimed, waiting, restricted
      from wanted;
    if cardinality(waiting) > 1 then
      waiting := array(select distinct queue from unnest(waiting) as queue);
    end if;
  end if;

  if attached_function is not null then
    execute format('select svc.%I($1, $2, $3)', attached_function) using attached_rows, created, payloads;
  end if;
  -- A process that has died is not waited for.
  is_awaited := exists (
    select from svc."__svc.processes"
     where awaits_events and closed_at is null and renewed_at > now() - interval '1 minute');
  return json_build_object(
    'created', created,
    'jobs', cardinality(job_events),
    'claimed', claimed,
    'waiting', waiting,
    'restricted', restricted,
    'isAwaited', is_awaited,
    'publishedAt', date_part('epoch', now()) * 1000,
    'madeAt', date_part('epoch', moment) * 1000,
    'startedOn', now(),
    'transactionId', pg_current_xact_id());
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.queued_events"(of_queue text, of_recipient text)
 RETURNS TABLE(name text, id text)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return query
    select job.data ->> 'event', job.data ->> 'eventId' from svc_jobs.job as job
     where job.name in (of_queue, of_queue || '.dlq') and job.singleton_key = of_recipient
       and job.state in ('created', 'retry', 'active');
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.read_feed"(after bigint, mark_of_after bigint, names text[], of_tenant text, walked_at_most integer, most integer, most_bytes bigint)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET jit TO 'off'
AS $function$
#variable_conflict use_column
declare
  feed_end record;
  settled bigint;
  events json;
  found_count int;
  taken_count int;
  last_taken bigint;
  walked_count int;
  walked_to bigint;
  newest bigint;
  read_to bigint;
  mark bigint;
  wanted_names text[];
begin
  select * into feed_end from svc."__svc.feed_end"();
  settled := feed_end.settled;
  -- After the end was read: what stands before it was declared by then.
  wanted_names := array(
    select known.event_name from svc."__svc.subscriptions" as known
     where known.fans_out and known.meant_by && names);
  with walked as (
    (select name, id, tenant, published_at, changed, payload, position
       from svc."__svc.events"
      where coalesce(of_tenant, '') = '' and position > after and position <= settled
      order by position limit walked_at_most)
    union all
    (select name, id, tenant, published_at, changed, payload, position
       from svc."__svc.events"
      where of_tenant <> '' and tenant = of_tenant and position > after and position <= settled
      order by position limit walked_at_most)
  ), wanted as materialized (
    -- The names are one set of rows for all events: they are hashed.
    select *, sum(octet_length(payload) + coalesce(octet_length(changed::text), 0) + 500)
                over (order by position) as bytes
      from (select * from walked
             where name in (select unnest(wanted_names)) and (of_tenant is distinct from '' or tenant is null)
             order by position limit most + 1) as found
  ), taken as materialized (
    select * from wanted
     where bytes <= most_bytes or position = (select min(position) from wanted)
     order by position limit most
  )
  select (select count(*) from wanted), count(*), max(position),
         json_agg(json_build_object(
           'position', position, 'mark', svc."__svc.mark_of"(published_at), 'name', name, 'id', id, 'tenant', tenant, 'changed', changed,
           'publishedAt', extract(epoch from published_at)::float8 * 1000, 'payload', payload)
           order by position)
    into found_count, taken_count, last_taken, events
    from taken;

  if taken_count = found_count then
    select count(*), max(position) into walked_count, walked_to
      from (
        (select position from svc."__svc.events"
          where coalesce(of_tenant, '') = '' and position > after and position <= settled
          order by position limit walked_at_most)
        union all
        (select position from svc."__svc.events"
          where of_tenant <> '' and tenant = of_tenant and position > after and position <= settled
          order by position limit walked_at_most)
      ) as walked;
    -- Only positions of events are handed out: a crash of Postgres may take back others.
    if walked_count < walked_at_most then
      select max(position) into newest from svc."__svc.events" where position <= settled;
    end if;
  end if;
  read_to := greatest(after, case when taken_count < found_count then last_taken
                                  else greatest(walked_to, newest) end);
  mark := svc."__svc.mark_of_position"(after);
  return json_build_object(
    'events', coalesce(events, '[]'),
    'to', read_to,
    'mark', svc."__svc.mark_of_position"(read_to),
    'isKnown', mark_of_after is null or mark = mark_of_after
      or (mark is null and after <= (select greatest(deleted_to, erased_to) from svc."__svc.feed")),
    'server', svc."__svc.of_snapshots"(),
    'hasMore', taken_count < found_count or walked_count = walked_at_most,
    -- A deletion of events that were not read any more shows in this later statement.
    'deletedTo', (select deleted_to from svc."__svc.feed"),
    'last', feed_end.last);
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.recipients_of"(subscription text, meant_by text[], tenant text)
 RETURNS TABLE(recipient uuid, version uuid)
 LANGUAGE sql
 STABLE
BEGIN ATOMIC
 SELECT its.recipient,
     its.version
    FROM ((unnest("__svc.recipients_of".meant_by) meaning(name)
      CROSS JOIN LATERAL ( VALUES (''::text), ("__svc.recipients_of".tenant)) whose(tenant))
      CROSS JOIN LATERAL ( SELECT wants.recipient,
             wants.version
            FROM svc."__svc.recipients" wants
           WHERE ((wants.subscription = "__svc.recipients_of".subscription) AND (wants.event_name = meaning.name) AND (wants.tenant = whose.tenant) AND (wants.filter IS NULL))
          OFFSET 0) its);
END;

CREATE OR REPLACE FUNCTION svc."__svc.restrict_recipient"(queue_name text, recipient_name text, rate integer, per_seconds integer, at_a_time integer, in_order boolean)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into svc."__svc.recipient_states" as known
    (queue, recipient, restricted, rate_limit, rate_seconds, max_in_flight, ordered)
  values (queue_name, recipient_name, true, rate, per_seconds, at_a_time, in_order)
  on conflict (queue, recipient) do update
    set restricted = true, rate_limit = excluded.rate_limit, rate_seconds = excluded.rate_seconds,
        max_in_flight = excluded.max_in_flight, ordered = excluded.ordered, changed_by = pg_current_xact_id();
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.search_query"(given text)
 RETURNS tsquery
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((replace(NULLIF(regexp_replace(svc."__svc.folded"(given), '([^ ]{100})[^ ]+'::text, '\1'::text, 'g'::text), ''::text), ' '::text, ':* & '::text) || ':*'::text))::tsquery;

CREATE OR REPLACE FUNCTION svc."__svc.search_words"(given text)
 RETURNS tsvector
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return array_to_tsvector(string_to_array(
    case when octet_length(given) <= 500 then svc."__svc.folded"(given)
         else regexp_replace(svc."__svc.folded"(given), '([^ ]{100})[^ ]+', '\1', 'g') end, ' '));
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.settle"(queue_name text, ids uuid[], leases timestamp with time zone[], done uuid[], failed json, postponed json, parked json, dead json)
 RETURNS TABLE(id uuid, next_at timestamp with time zone)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET jit TO 'off'
AS $function$
#variable_conflict use_column
declare
  -- The rows whose leases are these, in the table of the queue: of jobs that are done, and of the others.
  leased_done tid[];
  leased tid[];
  leased_in oid;
  aside text[];
  probe_id uuid;
begin
  -- They are locked: the statements that follow see them as they are then, and find them without an index. By
  -- name and ids, a plan that was made while the queue was empty would read all of the queue. In a lateral part
  -- each id is looked up.
  select array_agg(job.ctid) filter (where done is null or claim.id = any(done)),
         array_agg(job.ctid) filter (where claim.id <> all(done)),
         min(job.tableoid)
    into leased_done, leased, leased_in
    from unnest(ids, leases) as claim (id, lease)
   cross join lateral (
     select job.ctid, job.tableoid from svc_jobs.job as job
      where job.name = queue_name and job.id = claim.id
        and job.state = 'active' and job.started_on = claim.lease
        for update) as job;

  if leased_done is not null then
    return query
    delete from svc_jobs.job as job
     where job.ctid = any(leased_done) and job.tableoid = leased_in
    returning job.id, null::timestamptz;
  end if;

  -- Recipients of those that wait again, of which all jobs wait aside. The locks keep the rows: pumps
  -- look for these jobs by them.
  if leased is not null and (failed is not null or postponed is not null or parked is not null) then
    aside := array(
      select known.recipient from svc."__svc.recipient_states" as known
       where known.queue = queue_name
         and known.recipient = any(array(
               select job.group_id from svc_jobs.job as job
                where job.ctid = any(leased) and job.tableoid = leased_in))
         and (known.held or known.circuit_open or known.restricted)
       order by known.recipient
         for key share);
  end if;

  if failed is not null then
    return query
    update svc_jobs.job as job
       set state = 'retry', output = '{}',
           priority = case when job.group_id = any(aside) then -2 else -1 end,
           retry_limit = coalesce(job.retry_count + claim."attemptsLeft", job.retry_limit),
           start_after = greatest(
             now() + claim."atLeastMs" * interval '1 millisecond',
             now() + case
               when claim."exactlyMs" is not null then claim."exactlyMs" * interval '1 millisecond'
               when not job.retry_backoff then job.retry_delay * interval '1 second'
               -- The back-off of pg-boss.
               else least(job.retry_delay_max,
                          greatest(job.retry_delay, 1) * 2 ^ least(16, job.retry_count + 1) / 2 * (1 + random()))
                      * interval '1 second' end),
           data = (
             select case when claim."isUnsent" then its.data else its.data - 'unsentSince' end
                      || jsonb_strip_nulls(jsonb_build_object('attemptedIn', claim."attemptedIn"))
               -- The job says how many attempts its publish gave it: without a schedule they are its attempts
               -- again.
               from (select case when claim."attemptsLeft" is null then job.data
                                 else jsonb_build_object('publishedRetryLimit', job.retry_limit) || job.data
                                 end) as its (data))
      from json_to_recordset(failed) as claim (
             id uuid, "atLeastMs" float8, "exactlyMs" float8, "attemptsLeft" int,
             "attemptedIn" text, "isUnsent" boolean)
     where job.ctid = any(leased) and job.tableoid = leased_in and job.id = claim.id
    returning job.id, job.start_after;
  end if;

  if postponed is not null then
    return query
    update svc_jobs.job as job
       -- The next claim counts as the same attempt.
       set state = case when job.retry_count = 0 then 'created' else 'retry' end::svc_jobs.job_state,
           retry_count = greatest(job.retry_count - 1, 0),
           started_on = case when job.retry_count > 0 then job.started_on end,
           -- Jobs of the first lane are due.
           priority = case when job.group_id = any(aside) then -2
                           when job.priority = 0 and claim."delayMs" <= 0 then 0 else -1 end,
           start_after = now() + claim."delayMs" * interval '1 millisecond',
           keep_until = now() + claim."delayMs" * interval '1 millisecond'
                          + (job.keep_until - job.start_after),
           data = case when claim."isUnsent" and not job.data ? 'unsentSince'
                       then job.data || jsonb_build_object('unsentSince', now())
                       else job.data end
      from json_to_recordset(postponed) as claim (
             id uuid, "delayMs" float8, "isUnsent" boolean)
     where job.ctid = any(leased) and job.tableoid = leased_in and job.id = claim.id
    returning job.id, job.start_after;
  end if;

  if parked is not null then
    return query
    update svc_jobs.job as job
       set state = case when job.retry_count = 0 then 'created' else 'retry' end::svc_jobs.job_state,
           retry_count = greatest(job.retry_count - 1, 0),
           started_on = case when job.retry_count > 0 then job.started_on end,
           priority = case when job.group_id = any(aside) then -2 else -1 end,
           -- Where the recipient can have it by now; not at once, should the process still see it otherwise.
           start_after = case when job.group_id = any(aside) then job.start_after
                              else now() + interval '1 second' end
      from json_to_recordset(parked) as claim (id uuid)
     where job.ctid = any(leased) and job.tableoid = leased_in and job.id = claim.id
    returning job.id, null::timestamptz;

    -- A probe that failed is due after all others of its recipient, also those whose retry is hours away: the
    -- next probe tries another job. In an order none may overtake another, and a later due time of the first
    -- one would hold up the others.
    for probe_id in
      select claim.id from json_to_recordset(parked) as claim (id uuid, recipient text, "isBehind" boolean)
       where claim."isBehind" and not exists (
               select from svc."__svc.recipient_states" as known
                where known.queue = queue_name and known.recipient = claim.recipient and known.ordered)
    loop
      update svc_jobs.job as job
         set (start_after, keep_until) = (
               select behind.at, behind.at + (job.keep_until - job.start_after)
                 from (
                   select interval '1 microsecond' + greatest(now(), max(last.start_after))
                     from (select start_after from svc_jobs.job as last
                            where last.name = queue_name and last.priority = -2
                              and last.singleton_key = job.singleton_key
                              and last.blocked and last.state < 'active'
                            order by last.start_after desc limit 1) as last) as behind (at))
       where job.name = queue_name and job.id = probe_id and job.priority = -2 and job.state < 'active';
    end loop;
  end if;

  if dead is not null then
    return query
    with gone as (
      delete from svc_jobs.job as job
       using json_to_recordset(dead) as claim (id uuid, output jsonb)
       where job.ctid = any(leased) and job.tableoid = leased_in and job.id = claim.id
      returning job.*, claim.output as last_output
    ), letter as (
      -- As pg-boss makes one.
      insert into svc_jobs.job
        (name, priority, data, retry_limit, retry_backoff, retry_delay, start_after, created_on, keep_until,
         deletion_seconds, expire_seconds, singleton_key, group_id,
         source_name, source_id, source_created_on, source_retry_count, source_output, source_root_id)
      select gone.dead_letter, gone.priority, gone.data, queue.retry_limit, queue.retry_backoff,
             queue.retry_delay, now(), now(), now() + queue.retention_seconds * interval '1 second',
             queue.deletion_seconds, queue.expire_seconds, gone.singleton_key, gone.group_id,
             gone.name, gone.id, gone.created_on, gone.retry_count, gone.last_output,
             coalesce(gone.source_root_id, gone.id)
        from gone join svc_jobs.queue as queue on queue.name = gone.dead_letter
    )
    select gone.id, null::timestamptz from gone;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.take_position_of_event"()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  -- Of this transaction, and of this schema: one lock is enough for all its events.
  holds boolean := current_setting('svc' || '.holds_feed', true) is not distinct from pg_current_xact_id()::text;
begin
  update svc."__svc.events" set position = (svc."__svc.take_positions"(1, holds))[1]
   where name = new.name and id = new.id and position is null;
  if not holds then
    perform set_config('svc' || '.holds_feed', pg_current_xact_id()::text, true);
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.take_positions"(count integer, holds boolean)
 RETURNS bigint[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if not holds then
    perform pg_advisory_xact_lock_shared(
      7763009,
      (coalesce(pg_sequence_last_value('svc."__svc.event_positions"'::regclass), 0) & 2147483647)::int);
  end if;
  if count = 1 then
    return array[nextval('svc."__svc.event_positions"'::regclass)];
  end if;
  return array(select nextval('svc."__svc.event_positions"'::regclass) from generate_series(1, count));
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.waits_elsewhere"(queue_name text, recipient_name text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return exists (
    select from unnest(array[-1, 0]) as lane
     where (select true from svc_jobs.job as job
             where job.name = queue_name and job.priority = lane and job.singleton_key = recipient_name
               and job.blocked and job.state < 'active' limit 1));
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.webhooks.delete_missed_events"()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  delete from svc."__svc.webhooks.missed_events"
   where recovery_id = any(array(select id from deleted));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.webhooks.drop_log_days"(days_kept integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  oldest date := (now() at time zone 'utc')::date - days_kept;
  name text;
  dropped integer := 0;
begin
  perform pg_advisory_xact_lock(7763002);
  for name in
    select relname from pg_inherits
      join pg_class on pg_class.oid = inhrelid
     where inhparent = 'svc."__svc.webhooks.delivery_log"'::regclass
       -- In a `case`, since nothing else says which condition is looked at first.
       and case when relname ~ '[.][0-9]{4}-[0-9]{2}-[0-9]{2}$'
                then to_date(right(relname, 10), 'YYYY-MM-DD') < oldest end
     order by relname limit 30
  loop
    execute format('drop table svc.%I', name);
    dropped := dropped + 1;
  end loop;
  delete from svc."__svc.webhooks.delivery_log.rest"
   where id < svc."__svc.first_uuid"(oldest::timestamp at time zone 'utc');
  return dropped;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.webhooks.log_inbound"(rows json, created integer[] DEFAULT NULL::integer[], payloads text[] DEFAULT '{}'::text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  -- The row has how long the request took until the statement was sent.
  statement_ms int :=
    round(1000 * extract(epoch from clock_timestamp() - statement_timestamp()));
begin
  insert into svc."__svc.webhooks.inbound_log"
    (id, source, tenant, outcome, reason, event, event_id, ip, bytes, duration_ms, url, headers, body,
     verified, event_names, request_parts)
  select r.id, r.source, r.tenant, case when publish.is_repeat then 'duplicate' else r.outcome end, r.reason,
         r.events ->> coalesce(publish.first_new - r."firstEvent", 0),
         r."eventIds" ->> (publish.first_new - r."firstEvent"), r.ip, r.bytes,
         r."durationMs" + statement_ms, r.url, case when not publish.is_repeat then r.headers end,
         case when publish.is_repeat then null
              when r."payloadIsBody" then convert_to(payloads[r."firstEvent"], 'UTF8')
              else decode(r.body, 'base64') end,
         r.verified, case when not publish.is_repeat then r."eventNames" end,
         case when not publish.is_repeat then r."requestParts" end
    from json_to_recordset(rows)
           as r ("firstEvent" int, "eventCount" int, id uuid, source text, tenant text, outcome text,
                 reason text, events json, "eventIds" json, ip text, bytes int, "durationMs" int, url text,
                 headers text, body text, "payloadIsBody" boolean, verified boolean, "eventNames" text,
                 "requestParts" text)
   cross join lateral (
     select min(n) as first_new, (r."eventCount" > 0) is true and min(n) is null as is_repeat
       from unnest(coalesce(created, array[r."firstEvent"])) as n
      where n >= r."firstEvent" and n < r."firstEvent" + r."eventCount"
   ) as publish;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.webhooks.make_log_days"(days_ahead integer)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  today date := (now() at time zone 'utc')::date;
  day date;
  name text;
  -- The ids of the day: those from the first on, and before the second.
  first_id uuid;
  end_id uuid;
begin
  -- Processes that boot together take turns.
  perform pg_advisory_xact_lock(7763002);
  for step in 0..days_ahead loop
    day := today + step;
    name := '__svc.webhooks.delivery_log.' || to_char(day::timestamp, 'YYYY-MM-DD');
    continue when to_regclass(format('svc.%I', name)) is not null;
    first_id := svc."__svc.first_uuid"(day::timestamp at time zone 'utc');
    end_id := svc."__svc.first_uuid"((day + 1)::timestamp at time zone 'utc');
    -- Made on its own and then attached: `create … partition of` would stop every insert.
    execute format(
      'create table svc.%I (like svc."__svc.webhooks.delivery_log" including constraints)', name);
    execute format('alter table svc.%I replica identity full', name);
    -- What has come for this day already stands in the rest, and moves.
    lock table svc."__svc.webhooks.delivery_log.rest" in access exclusive mode;
    execute format(
      'with strays as (
         delete from svc."__svc.webhooks.delivery_log.rest" where id >= %1$L and id < %2$L returning *
       )
       insert into svc.%3$I select * from strays',
      first_id, end_id, name);
    execute format(
      'alter table svc."__svc.webhooks.delivery_log" attach partition svc.%I for values from (%L) to (%L)',
      name, first_id, end_id);
  end loop;
  perform svc."__svc.hand_over"();
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.webhooks.name_audit"()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  select coalesce(label, url) into new.target_name
    from svc."__svc.webhooks.registrations" where id = new.target_id::uuid;
  new.target_name := coalesce(
    new.target_name, new.changes -> 'label' ->> 'from', new.changes -> 'url' ->> 'from');
  return new;
exception
  when insufficient_privilege or undefined_table or invalid_text_representation then return new;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.webhooks.published_id"(event_id text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN substr(event_id, (strpos(event_id, ''::text) + 1));

CREATE OR REPLACE FUNCTION svc."__svc.webhooks.raise_version"()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  update svc."__svc.recipients" set version = gen_random_uuid() where recipient = old.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.webhooks.read_delivery"(data json)
 RETURNS json
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return json_build_object(
    'webhook', (
      select row_to_json(webhook) from svc."__svc.webhooks.for_delivery" as webhook
       where webhook.id = (data ->> 'recipient')::uuid),
    'event', (
      select json_build_object(
               'payload', case when octet_length(event.payload) <= 65536 then event.payload else '' end,
               'bytes', octet_length(event.payload),
               'publishedAt', extract(epoch from event.published_at)::float8 * 1000,
               'traceContext', event.trace_context)
        from svc."__svc.events" as event
       where event.name = data ->> 'event' and event.id = data ->> 'eventId'));
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.webhooks.record_attempts"(settled uuid[], next_attempts timestamp with time zone[], attempts json)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
begin
  with written as materialized (
    select attempt.*, coalesce(next_attempts[array_position(settled, attempt.job)], attempt."nextAttemptAt")
             as next_attempt_at,
           -- The tenant of the webhook. That of a deleted one is kept while rows may follow.
           coalesce(
             webhook.tenant,
             (select tenant from svc."__svc.webhooks.deleted_webhooks" where id = attempt."webhookId"))
             as tenant,
           case when attempt."testedUrl" = webhook.url then attempt.error is null end as succeeded
      from json_to_recordset(attempts) as attempt (
             job uuid, id uuid, "webhookId" uuid, event text, "eventId" text, payload text,
             "deliveryId" uuid, attempt int, status text, "statusCode" smallint, error text,
             "durationMs" int, "responseBody" text, "attemptedAt" timestamptz,
             "nextAttemptAt" timestamptz, url text, "isTest" boolean, "firstAttemptMs" int,
             "testedUrl" text, phases smallint[], address inet, "responseHeaders" text)
      -- Looked up by id, also by a plan that was made while the table was empty.
      left join svc."__svc.webhooks.registrations" as webhook on webhook.id = attempt."webhookId"
     where settled is null or attempt.job = any(settled)
  ), logged as (
    insert into svc."__svc.webhooks.delivery_log"
      (id, webhook_id, event, event_id, payload, delivery_id, attempt, status, status_code, error,
       duration_ms, response_body, attempted_at, next_attempt_at, url, is_test, tenant, phases, address,
       response_headers)
    select id, "webhookId", event, "eventId", payload, "deliveryId", attempt, status, "statusCode", error,
           "durationMs", "responseBody", "attemptedAt", next_attempt_at, url, "isTest", tenant, phases, address,
           "responseHeaders"
      from written
  )
  insert into svc."__svc.webhooks.recent_attempts"
    (at, webhook_id, tenant, event, status, duration_ms, first_attempt_ms, succeeded)
  select "attemptedAt", "webhookId", tenant, event, status, "durationMs", "firstAttemptMs", succeeded
    from written
    -- A test tells of no event: it counts in neither the health of the webhook nor the statistics.
   where "isTest" is not true;
end
$function$;

CREATE OR REPLACE FUNCTION svc."__svc.webhooks.restrict"()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if tg_op = 'DELETE' then
    perform svc."__svc.lift_restrictions"('__svc.webhooks.deliver', old.id::text);
  elsif new.ordered or new.rate_limit is not null or new.max_in_flight is not null then
    perform svc."__svc.restrict_recipient"('__svc.webhooks.deliver', new.id::text,
      (new.rate_limit ->> 'limit')::int, (new.rate_limit ->> 'perSeconds')::int, new.max_in_flight,
      new.ordered);
  else
    perform svc."__svc.lift_restrictions"('__svc.webhooks.deliver', new.id::text);
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION svc_jobs.create_queue(queue_name text, options jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$ md5 328b3f6c74135af6a1db340df79b0067 $function$;

CREATE OR REPLACE FUNCTION svc_jobs.delete_queue(queue_name text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$ md5 e977b971a280d64e5b88e1e80988c580 $function$;

CREATE OR REPLACE FUNCTION svc_jobs.job_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$ md5 924428d4b27942de392f0fa7d04ff3af $function$;

CREATE OR REPLACE FUNCTION svc_jobs.job_table_format(command text, table_name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$ md5 9438ba67ad022bbbbc19ec8c66b57905 $function$;

CREATE OR REPLACE FUNCTION svc_jobs.job_table_run(command text, tbl_name text DEFAULT NULL::text, queue_name text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$ md5 58987de59fb382e2dfc96dee4876a382 $function$;

CREATE OR REPLACE FUNCTION svc_jobs.job_table_run_async(command_name text, version integer, command text, tbl_name text DEFAULT NULL::text, queue_name text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$ md5 7bc69d07bf2c76199951142b3c146175 $function$;
