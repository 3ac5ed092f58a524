-- A tenant is a customer of the host. What has no tenant is the operator's.

alter table svc."__svc.events" add column tenant text collate "C";

-- '' for the operator's, which get the events of all tenants.
alter table svc."__svc.targets" add column tenant text collate "C" not null default '';

-- Which events, of those that it wants, the recipient is sent; see filter.ts. Null for all.
alter table svc."__svc.targets" add column filter jsonb;

-- A publish walks along these: the recipients of one event and one tenant, ...
create index targets_by_tenant on svc."__svc.targets" (subscription, event_name, tenant, target)
  where filter is null;

-- ... and those that have a filter.
create index targets_with_filter on svc."__svc.targets" (event_name, tenant)
  where filter is not null;
