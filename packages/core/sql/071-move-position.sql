-- The dead letter after which the next portion of a move begins; null: at the beginning. A portion that
-- began at the beginning would read all that those before it have left behind.
alter table svc."__svc.job_moves" add column after_id uuid;
