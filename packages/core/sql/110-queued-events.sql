-- The events of which a group has a job or a dead letter. A package reads them in its own statements
-- without knowing pg-boss's tables. Postgres puts the body into the statement that calls it.
-- pg-boss's tables are made later, so that the body cannot be checked yet.
set local check_function_bodies = off;
create function svc."__svc.queued_events"(of_queue text, of_group text)
returns table (name text, id text)
language sql stable as $$
  select job.data ->> 'event', job.data ->> 'eventId' from svc_jobs.job as job
   where job.name in (of_queue, of_queue || '.dlq') and job.singleton_key = of_group
     and job.state in ('created', 'retry', 'active')
$$;
set local check_function_bodies = on;
