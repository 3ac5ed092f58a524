-- Of a webhook that was disabled: from when it may have missed events, to the disabling. That begins with
-- the oldest transaction that was open then, at most five minutes before it: the time of an event is the
-- begin of its transaction. A host of an older version writes nothing here: what an earlier disabling has
-- left has another end.
alter table svc."__svc.webhooks.registrations" add column missed_until_disabled tstzrange;
