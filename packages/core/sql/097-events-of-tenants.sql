-- The events of one tenant by their time, for searches on its behalf: without it each would read those of
-- all tenants.
create index events_of_tenants on svc."__svc.events" (tenant, published_at) where tenant is not null;
