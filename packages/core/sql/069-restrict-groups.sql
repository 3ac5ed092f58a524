-- Sets what restricts the attempts of a group: from the commit on it holds for every attempt that begins.
-- Jobs that wait already are parked in the background before the first of them is claimed.
--
-- Processes of several versions call it: it does not change. What has to differ gets a new name.
create function svc."__svc.restrict_group"(
  queue_name text,
  group_name text,
  -- At most `rate` attempts begin in any span of `per_seconds`; null: any number.
  rate int,
  per_seconds int,
  -- Attempts at a time; null: any number.
  at_a_time int,
  in_order boolean,
  -- The group has had no job yet.
  is_new boolean
) returns void
language plpgsql as $$
begin
  insert into svc."__svc.job_groups" as known
    (queue, group_id, restricted, rate_limit, rate_seconds, max_in_flight, ordered, unparked_since)
  values (queue_name, group_name, true, rate, per_seconds, at_a_time, in_order,
          case when not is_new then clock_timestamp() end)
  on conflict (queue, group_id) do update
    set restricted = true, rate_limit = excluded.rate_limit, rate_seconds = excluded.rate_seconds,
        max_in_flight = excluded.max_in_flight, ordered = excluded.ordered, parked_at = now(),
        unparked_since = case when known.restricted then known.unparked_since
                              else excluded.unparked_since end;
  if is_new then
    return;
  end if;
  -- Jobs that run are marked, so that they come back parked. Locked ones are left out: they are being
  -- settled just now, and may wait for the row above.
  update svc_jobs.job as job set blocked = true
   where job.name = queue_name and job.id = any(array(
           select running.id from svc_jobs.job as running
            where running.name = queue_name and running.group_id = group_name
              and running.state = 'active' and not running.blocked
              for update skip locked));
end
$$;

-- The jobs of the group go on as those of any other. Those that are parked are claimed in turns.
create function svc."__svc.lift_restrictions"(queue_name text, group_name text) returns void
language plpgsql as $$
begin
  update svc."__svc.job_groups" as known
     set restricted = false, rate_limit = null, rate_seconds = null, max_in_flight = null,
         ordered = false, unparked_since = null, parked_at = now()
   where known.queue = queue_name and known.group_id = group_name and known.restricted;
  delete from svc."__svc.job_grants" as granted
   where granted.queue = queue_name and granted.group_id = group_name;
  -- Jobs that run are not parked again when they come back: by then, no process may look for parked
  -- jobs of this group.
  update svc_jobs.job as job set blocked = false
   where job.name = queue_name and job.id = any(array(
           select running.id from svc_jobs.job as running
            where running.name = queue_name and running.group_id = group_name
              and running.state = 'active' and running.blocked
              for update skip locked));
end
$$;

-- A process of an older version deletes the row of a group that has had no parked job for a while. It
-- does not know restrictions. Without the row they would not hold any more, and no process would look
-- for jobs of the group that are parked later.
create function svc."__svc.keep_restricted_group"() returns trigger
language plpgsql as $$
begin
  return null;
end
$$;

create trigger keep_restricted before delete on svc."__svc.job_groups"
  for each row when (old.restricted) execute function svc."__svc.keep_restricted_group"();
