-- The group of a webhook's jobs is restricted as the webhook's settings say. By triggers, since hosts of
-- an older version write the settings too, and know nothing of groups that are restricted: no process
-- would send the deliveries of a webhook whose group is not.
create function svc."__svc.webhooks.restrict"() returns trigger
language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform svc."__svc.lift_restrictions"('__svc.webhooks.deliver', old.id::text);
  elsif new.ordered or new.rate_limit is not null or new.max_in_flight is not null then
    perform svc."__svc.restrict_group"('__svc.webhooks.deliver', new.id::text,
      (new.rate_limit ->> 'limit')::int, (new.rate_limit ->> 'perSeconds')::int, new.max_in_flight,
      new.ordered, tg_op = 'INSERT');
  else
    perform svc."__svc.lift_restrictions"('__svc.webhooks.deliver', new.id::text);
  end if;
  return null;
end
$$;

create trigger restrict_new after insert on svc."__svc.webhooks.registrations"
  for each row when (new.ordered or new.rate_limit is not null or new.max_in_flight is not null)
  execute function svc."__svc.webhooks.restrict"();

create trigger restrict_changed after update of ordered, rate_limit, max_in_flight
  on svc."__svc.webhooks.registrations"
  for each row when ((old.ordered, old.rate_limit, old.max_in_flight)
                     is distinct from (new.ordered, new.rate_limit, new.max_in_flight))
  execute function svc."__svc.webhooks.restrict"();

-- At the commit: recoveries are locked before the row of their group, also where a webhook is deleted.
create constraint trigger lift_deleted after delete on svc."__svc.webhooks.registrations"
  deferrable initially deferred
  for each row when (old.ordered or old.rate_limit is not null or old.max_in_flight is not null)
  execute function svc."__svc.webhooks.restrict"();

-- What hosts of an older version have written or deleted since restrictions hold.
select svc."__svc.restrict_group"('__svc.webhooks.deliver', webhook.id::text,
         (webhook.rate_limit ->> 'limit')::int, (webhook.rate_limit ->> 'perSeconds')::int,
         webhook.max_in_flight, webhook.ordered, false)
  from svc."__svc.webhooks.registrations" as webhook
 where (webhook.ordered or webhook.rate_limit is not null or webhook.max_in_flight is not null)
   and not exists (
         select from svc."__svc.job_groups" as known
          where known.queue = '__svc.webhooks.deliver' and known.group_id = webhook.id::text
            and known.restricted);
