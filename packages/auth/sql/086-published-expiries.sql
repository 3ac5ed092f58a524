-- Up to when the expiries of keys are published. A process that has published what was due moves it
-- on, so that what expires while no process looks is published later. It begins with the days that
-- earlier versions looked back: the expiries of years would be published at an upgrade otherwise.
create table svc."__svc.auth.published_expiries" (
  is_only boolean primary key default true check (is_only),
  until timestamptz not null
);

insert into svc."__svc.auth.published_expiries" (until) values (now() - interval '7 days');
