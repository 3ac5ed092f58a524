-- Deliveries of an inactive webhook used to wait for a moment that never comes. Now its jobs are
-- held, and parked: those that wait so already are taken over.
insert into svc."__svc.job_groups" (queue, group_id, held)
select '__svc.webhooks.deliver', id::text, true
  from svc."__svc.webhooks.registrations"
 where not active
on conflict (queue, group_id) do update set held = true;

update svc_jobs.job
   set blocked = true, start_after = created_on, keep_until = created_on + interval '10 years'
 where name = '__svc.webhooks.deliver' and state < 'active' and start_after > '9000-01-01';
