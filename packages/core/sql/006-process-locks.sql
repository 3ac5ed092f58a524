-- Whether the process holds the advisory lock of its id, on a connection that ends with it: then a
-- lock that is gone says at once that the process has died.
alter table svc."__svc.processes" add column is_locked boolean not null default false;
