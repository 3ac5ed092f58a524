-- The steps that the filter took for the last event for which it was dear; null where it never was.
alter table svc."__svc.webhooks.registrations" add column filter_cost integer;
