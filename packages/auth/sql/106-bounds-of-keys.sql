-- What restricts a key by the word of those who may loosen it: { expiresAt, allowedIps, limits, quota,
-- enabled }. A session of the console without a key of its own changes these fields within that alone,
-- and may take back what it has tightened itself. Null: the columns themselves.
alter table svc."__svc.auth.api_keys" add column bounds jsonb;
