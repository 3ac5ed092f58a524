-- Of a webhook that was disabled: since when it may have missed events. That is the begin of the oldest
-- transaction that was open at the disabling, at most five minutes before it: the time of an event is
-- the begin of its transaction. Null where a host of an older version has disabled it.
alter table svc."__svc.webhooks.registrations" add column missed_since timestamptz;
