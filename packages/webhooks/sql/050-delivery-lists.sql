-- Lists over all webhooks. What is written of an attempt gets the tenant of its webhook, and the
-- address where that is not the webhook's. Both are null in rows of before, and in those of a host of
-- an older version.
alter table svc."__svc.webhooks.delivery_log"
  add column tenant text collate "C",
  add column url text;

-- Of which tenant a deleted webhook was: rows are still written for its waiting deliveries.
create table svc."__svc.webhooks.deleted_webhooks" (
  id uuid primary key,
  tenant text collate "C" not null,
  deleted_at timestamptz not null default now()
);

-- The id of an event as its publish gave it; see event-id.ts.
create function svc."__svc.webhooks.published_id"(event_id text) returns text
language sql immutable parallel safe as $$
  select substr(event_id, strpos(event_id, E'\x1f') + 1)
$$;

-- Each page of a list is read along one of these indexes. A successful delivery is in three of
-- them: the others hold few rows. They are created for each day: days that are large already have
-- none until they are dropped, since creating them would delay the boot and every settle.
do $do$
declare
  parent constant regclass := 'svc."__svc.webhooks.delivery_log"';
  partition record;
  name text;
  definition text;
begin
  for name, definition in values
    ('time', '(id)'),
    ('event', '(event, id)'),
    ('event_id', '(svc."__svc.webhooks.published_id"(event_id), id) where event_id is not null'),
    ('status', $$(status, id) where status <> 'delivered'$$),
    ('status_code', '(status_code, id) where status_code <> 200'),
    ('tenant', '(tenant, id) where tenant is not null')
  loop
    execute format('create index %I on only %s %s', 'svc_delivery_log_' || name, parent, definition);
    for partition in
      select inhrelid::regclass as is, relname from pg_inherits
        join pg_class on pg_class.oid = inhrelid
       where inhparent = parent and pg_relation_size(inhrelid) < 256 * 1024 * 1024
    loop
      execute format('create index %I on %s %s',
        partition.relname || '.' || name, partition.is, definition);
      execute format('alter index svc.%I attach partition svc.%I',
        'svc_delivery_log_' || name, partition.relname || '.' || name);
    end loop;
  end loop;
end
$do$;
