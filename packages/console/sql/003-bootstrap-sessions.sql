-- Of a session of the bootstrap key: shows whether the key is still the same. It is computed with
-- the token of the session, which is not stored. A session from before this column ends.
alter table svc."__svc.console.sessions" add column bootstrap_seal text collate "C";
