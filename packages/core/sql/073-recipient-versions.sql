-- The version of a recipient: it changes with all that the worker of its jobs reads of it. A process
-- that has this version in memory does not read the recipient again for a job that it publishes. The
-- table of the recipients raises it by a trigger, as 081 of the webhooks does.
--
-- A constant for the recipients that exist: no row is rewritten.
alter table svc."__svc.targets"
  add column version uuid not null default '00000000-0000-0000-0000-000000000000';
-- Random: a recipient that is deleted and made again has another one.
alter table svc."__svc.targets" alter column version set default gen_random_uuid();
