-- A webhook of a tenant gets the events of that tenant; one without a tenant is the operator's.
alter table svc."__svc.webhooks.registrations" add column tenant text collate "C";

-- Lists of one tenant, newest first, and their number.
create index on svc."__svc.webhooks.registrations" (tenant, id) where tenant is not null;
