-- What core keeps in the schema `svc`. The names carry dots, so they are always quoted.

-- An event, once, whatever the number of its subscribers: their jobs only point at it.
-- The payload is the JSON text that was published, kept as text so that numbers, the order of
-- keys and Unicode come out as they went in.
create table svc."__svc.events" (
  name text collate "C" not null,
  -- As it is stored, see event-id.ts.
  id text collate "C" not null,
  payload text not null,
  -- A tenant is a customer of the host. What has no tenant is the operator's.
  tenant text collate "C",
  published_at timestamptz not null default now(),
  -- Where something that came of it late is kept longer than other events.
  keep_until timestamptz,
  -- The trace context of W3C of the span that published the event; null where nothing traces.
  trace_context text,
  -- Its place in the feed: see "__svc.take_positions". Null until the commit of a transaction of a host.
  position bigint,
  -- The paths of the leaves that differ from what was before, as a list of texts; null where the publisher
  -- did not say what was before.
  changed json,
  -- This key is what makes a publish idempotent.
  primary key (name, id)
);

create index on svc."__svc.events" using brin (published_at);

-- For searches on behalf of a tenant: without it each would read the events of all.
create index events_of_tenants on svc."__svc.events" (tenant, published_at) where tenant is not null;

-- The feed walks along these, whatever names it is asked for.
create index events_by_position on svc."__svc.events" (position) include (name) where position is not null;
create index events_of_tenants_by_position on svc."__svc.events" (tenant, position) include (name)
  where tenant is not null and position is not null;

create sequence svc."__svc.event_positions" owned by svc."__svc.events".position;

-- How far the feed is deleted: one row.
create table svc."__svc.feed" (
  -- The highest position of an event that was deleted since it was old.
  deleted_to bigint primary key,
  -- The highest position of an event that was erased with its tenant.
  erased_to bigint not null default 0
);

insert into svc."__svc.feed" (deleted_to) values (0);

-- The event names of recipients that mean an event of this name: the name, '*', and a pattern for each dot in it.
-- The events of ours are meant by their names alone. See event-patterns.ts.
create function svc."__svc.names_that_mean"(event_name text) returns text[]
language sql immutable
begin atomic
  select array_agg(case n when 0 then event_name
                          when 1 then '*'
                          else array_to_string((string_to_array(event_name, '.'))[:n - 1], '.') || '.*' end)
    from generate_series(
           0,
           case when starts_with(event_name, 'svc.') then 0
                else cardinality(string_to_array(event_name, '.')) end) as n;
end;

-- Who wants which event. Read by every publish in every process, so that a process that only
-- publishes queues the same jobs as any other. Where it `fans_out`, an event makes a
-- job for each of its recipients, else one job for the subscription.
create table svc."__svc.subscriptions" (
  event_name text collate "C" not null,
  subscription text collate "C" not null,
  queue text not null,
  idempotent boolean not null default true,
  fans_out boolean not null default false,
  -- For how many days after its publish an event is needed by what shows it.
  keep_days integer not null default 0,
  -- What recipients may ask for to get these events.
  meant_by text[] collate "C" not null generated always as (svc."__svc.names_that_mean"(event_name)) stored,
  primary key (event_name, subscription)
);

create index on svc."__svc.subscriptions" (subscription);

-- The recipients of the subscriptions that fan out. The event name '*' stands for every event of the
-- subscription, and 'order.*' for those whose names begin with 'order.'.
create table svc."__svc.recipients" (
  subscription text collate "C" not null,
  event_name text collate "C" not null,
  recipient uuid not null,
  -- '' for the operator's, which get the events of all tenants.
  tenant text collate "C" not null default '',
  -- Which events, of those that it wants, the recipient is sent; see filter.ts. Null for all.
  filter jsonb,
  -- Changes with all that the worker of its jobs reads of the recipient: a process that has this
  -- version in memory does not read it again for a job that it publishes. Random: a recipient that is
  -- deleted and made again has another one.
  version uuid not null default gen_random_uuid(),
  primary key (subscription, event_name, recipient)
);

create index on svc."__svc.recipients" (recipient);

-- A publish walks along these: the recipients of one event and one tenant, ...
create index recipients_by_tenant on svc."__svc.recipients" (subscription, event_name, tenant, recipient)
  where filter is null;

-- ... and those that have a filter.
create index recipients_with_filter on svc."__svc.recipients" (event_name, tenant)
  where filter is not null;

-- Processes keep the filters of recipients in memory. Each publish reads from this table whether the
-- filters that its process keeps are still current.
create table svc."__svc.filter_changes" (
  -- The filters of one event name and one tenant, as a hash. Two sets with the same hash are only read
  -- more often, and an erased tenant leaves no name behind.
  filter_set bigint not null,
  -- Transactions do not commit in the order of their ids. Whether a process has read this change is
  -- decided by the snapshot with which it has read the filters.
  changed_by xid8 not null default pg_current_xact_id(),
  changed_at timestamptz not null default clock_timestamp(),
  -- The recipient that got its first filter. A publish can wait after its filters were asked: for an
  -- event of the same id, or for a deduplication key, that an open transaction holds. Such a recipient
  -- is among those without a filter when it is asked, and among those with one when the jobs are made.
  first_of uuid
);

-- A table without a primary key needs another replica identity: without one, deletes fail under a
-- publication for all tables.
alter table svc."__svc.filter_changes" replica identity full;

create index on svc."__svc.filter_changes" (filter_set, changed_by);
create index on svc."__svc.filter_changes" (changed_at);
create index on svc."__svc.filter_changes" (changed_by) where first_of is not null;

-- Durable on purpose: a deduplication key that a crash forgets lets an event through twice.
create table svc."__svc.kv" (
  key text collate "C" primary key,
  value jsonb not null,
  expires_at timestamptz
);

create index on svc."__svc.kv" (expires_at) where expires_at is not null;

-- One row for each process that runs a host. A process renews its row while it lives and marks it
-- at close; a row that is not renewed for half a minute has lapsed.
create table svc."__svc.processes" (
  id uuid primary key,
  started_at timestamptz not null default now(),
  renewed_at timestamptz not null default now(),
  closed_at timestamptz,
  -- What the process lives by: { events: { subscription: [event, …] }, days: { setting: number } }.
  declares jsonb not null,
  -- Whether the process holds the advisory lock of its id, on a connection that ends with it: then a
  -- lock that is gone says at once that the process has died.
  is_locked boolean not null default false,
  -- Whether readers of the feed wait in the process for the next event.
  awaits_events boolean not null default false
)
-- Renewed every few seconds: room on the page for the new version of a row.
with (fillfactor = 50);

-- Read by every publish.
create index processes_that_await_events on svc."__svc.processes" (id)
  where awaits_events and closed_at is null;

-- The recipient of a job is what it is for: the webhook of a delivery. A row here says that jobs for
-- the recipient wait aside, in the lane -2 of pg-boss's table, or did so a while ago: fetches do not see
-- them there.
create table svc."__svc.recipient_states" (
  queue text collate "C" not null,
  recipient text collate "C" not null,
  -- No job for it is started: the webhook is inactive or deleted.
  held boolean not null default false,
  -- The last attempts failed: its jobs are tried few at a time.
  circuit_open boolean not null default false,
  -- Processes read what has changed since they have read the table last, in which no transaction is missed.
  changed_by xid8 not null default pg_current_xact_id(),
  -- Restrictions hold over all processes: how many attempts may begin in a span of time, how many may
  -- run at a time, and in which order. Jobs for such a recipient are claimed by "__svc.claim_restricted"
  -- alone.
  restricted boolean not null default false,
  rate_limit integer,
  rate_seconds integer,
  max_in_flight integer,
  -- One job at a time, the oldest first. While a job waits for its next attempt no other is started.
  ordered boolean not null default false,
  primary key (queue, recipient)
);

create index on svc."__svc.recipient_states" (queue, changed_by);

-- What an operator has stopped: no attempt of the queue begins, or none for a tenant in it.
create table svc."__svc.pauses" (
  queue text collate "C" not null,
  -- '' for the whole queue.
  tenant text collate "C" not null default '',
  reason text,
  since timestamptz not null default clock_timestamp(),
  primary key (queue, tenant)
);

-- The right to begin attempts at a recipient with a rate. Those that count for no span any more are
-- deleted as the next ones are permitted.
create table svc."__svc.attempt_permits" (
  id uuid primary key,
  queue text collate "C" not null,
  recipient text collate "C" not null,
  permitted_at timestamptz not null,
  -- The attempts have begun by then: an upper bound, until the process has told when.
  begun_by timestamptz not null,
  attempts integer not null default 1
);

create index on svc."__svc.attempt_permits" (queue, recipient, begun_by);

-- Work on many jobs for one recipient, which is done in portions and at a pace: what an operator asked for is
-- answered at once, and holds from then on. See jobs/recipients/work-table.ts.
create table svc."__svc.work" (
  -- A UUIDv7: newest first is a sort by id.
  id uuid primary key,
  queue text collate "C" not null,
  recipient text collate "C" not null,
  -- 'discard': delete the jobs that wait, and the dead letters. 'due': make the jobs due. 'redrive': put the dead
  -- letters back on their way.
  -- These rows are deleted when the work is done. Recoveries are listed, and stay for a while: 'dead': dead
  -- letters. 'failed': jobs that wait for their next attempt. 'missing': what the worker of the queue
  -- determines.
  what text not null check (what in ('discard', 'due', 'redrive', 'dead', 'failed', 'missing')),
  since timestamptz not null default '-infinity',
  until timestamptz not null,
  per_second integer,
  -- How many there are in all; null until they are counted.
  deliveries integer,
  done integer not null default 0,
  -- When the next portion may follow.
  next_at timestamptz not null default now(),
  -- Where the next portion begins, as the portion before has left it; null: at the beginning.
  position jsonb,
  -- They are counted when all transactions with a smaller number have ended.
  after_transaction xid8,
  created_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz
);

create index on svc."__svc.work" (queue, next_at) where finished_at is null;
create index on svc."__svc.work" (queue, recipient, id);

-- The applications whose hosts have booted on these tables: there should be one.
create table svc."__svc.applications" (
  name text primary key,
  since timestamptz not null default now()
);

-- The words of a text by which it is found: without case and accents, each ended by what is no letter, digit or
-- sign of a vowel. The collation reads them alike in every database. A longer word is cut, since an index takes no
-- more than 2046 bytes of one; a text of 500 bytes has none that is longer.
create function svc."__svc.folded"(given text) returns text
language sql immutable parallel safe
return trim(regexp_replace(
  translate(
    upper(lower(case when octet_length(given) = length(given) then given else normalize(regexp_replace(
      normalize(given, nfkd),
      U&'[\0300-\036F\0483-\0489\0591-\05BD\05BF\05C1\05C2\05C4\05C5\05C7\0610-\061A\064B-\065F\0670\1AB0-\1AFF\1DC0-\1DFF\20D0-\20FF\FE20-\FE2F]',
      '', 'g'), nfkc) end collate "und-x-icu")),
    'ØŁĐÐĦŦ', 'OLDDHT'),
  U&'[^[:alnum:]\0900-\0963\0966-\0DFF\0E31-\0E4E\0EB1-\0ECD\0F71-\0F84\102B-\103E\17B4-\17D3\3099\309A]+', ' ', 'g'));

-- In columns, so that a statement never computes them: it takes a fifth of a millisecond.
create function svc."__svc.search_words"(given text) returns tsvector
language plpgsql immutable parallel safe strict
set search_path = pg_catalog, pg_temp
as $$
begin
  return array_to_tsvector(string_to_array(
    case when octet_length(given) <= 500 then svc."__svc.folded"(given)
         else regexp_replace(svc."__svc.folded"(given), '([^ ]{100})[^ ]+', '\1', 'g') end, ' '));
end
$$;

-- Finds what has a word that begins so for each word of `given`; null where it has none.
create function svc."__svc.search_query"(given text) returns tsquery
language sql immutable parallel safe
return (replace(
    nullif(regexp_replace(svc."__svc.folded"(given), '([^ ]{100})[^ ]+', '\1', 'g'), ''), ' ', ':* & ')
  || ':*')::tsquery;

-- The tenants that have had users or webhooks, for a search by name: a tenant has any number of rows in other
-- tables. Concurrent transactions may write one twice, instead of waiting for each other.
create table svc."__svc.tenants" (
  -- For logical replication alone.
  id uuid primary key default gen_random_uuid(),
  tenant text collate "C" not null,
  -- What it is found by.
  words tsvector generated always as (svc."__svc.search_words"(tenant)) stored
);

create index on svc."__svc.tenants" (tenant);
create index tenants_search on svc."__svc.tenants" using gin (words);

-- Who changed what. A row is written in the transaction of the change, and never changed.
create table svc."__svc.audit" (
  -- A UUIDv7: its time is that of the row.
  id uuid primary key,
  -- Of what was changed; null for what is the operator's.
  tenant text collate "C",
  actor_kind text collate "C" not null,
  actor_key_id uuid,
  -- Text: a console may have the host's own login, and its ids of users.
  actor_user_id text collate "C",
  -- What the actor and the target were called when the change was made. Each package names what its
  -- tables hold, by a trigger. eraseTenant clears the names with the changes.
  actor_name text,
  action text collate "C" not null,
  target_kind text collate "C" not null,
  target_id text collate "C" not null,
  target_name text,
  -- { field: { from, to } }, where a secret is "***"; null once its tenant was erased.
  changes jsonb,
  request_id text,
  ip text
);

create index on svc."__svc.audit" (tenant, id desc);
create index on svc."__svc.audit" (target_id, id desc);
create index on svc."__svc.audit" (actor_key_id, id desc) where actor_key_id is not null;
create index on svc."__svc.audit" (actor_user_id, id desc) where actor_user_id is not null;
-- A kind may be rare among many.
create index on svc."__svc.audit" (action, id desc);
create index on svc."__svc.audit" (target_kind, id desc);
create index on svc."__svc.audit" (actor_kind, id desc);
