-- A package that shows events long after they were published says how long they are needed: every process
-- sweeps, also one that knows nothing of what needs them.

-- Of all events: as many days after they were published.
alter table svc."__svc.subscriptions" add column keep_days integer not null default 0;

-- Of this event, where something that came of it late is kept longer.
alter table svc."__svc.events" add column keep_until timestamptz;
