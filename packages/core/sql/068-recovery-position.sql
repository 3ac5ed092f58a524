-- Where the next portion of a recovery begins, as recover-portion.ts writes it; null: at the beginning.
-- A portion that began at the beginning would read all that those before it have left behind.
alter table svc."__svc.recoveries" add column position jsonb;
