-- Processes keep the filters of recipients in memory. Each publish reads from this table whether the
-- filters that its process keeps are still current.
create table svc."__svc.filter_changes" (
  -- The filters of one event name and one tenant, as a hash. Two sets with the same hash are only read
  -- more often, and an erased tenant leaves no name behind.
  filter_set bigint not null,
  -- Transactions do not commit in the order of their ids. Whether a process has read this change is
  -- decided by the snapshot with which it has read the filters.
  changed_by xid8 not null default pg_current_xact_id(),
  changed_at timestamptz not null default clock_timestamp()
);

create index on svc."__svc.filter_changes" (filter_set, changed_by);
create index on svc."__svc.filter_changes" (changed_at);

create function svc."__svc.filter_set"(event_name text, tenant text) returns bigint
language sql immutable as $$ select hashtextextended(event_name || ' ' || tenant, 0) $$;

create function svc."__svc.note_filter_change"() returns trigger
language plpgsql as $$
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
$$;

-- A trigger, since hosts of an older version change recipients too.
create trigger note_filter_change
  after insert or delete or update of subscription, event_name, target, tenant, filter
  on svc."__svc.targets" for each row execute function svc."__svc.note_filter_change"();
