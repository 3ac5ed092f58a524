-- Claims jobs of restricted groups. The row of a group is locked meanwhile, so that no two processes
-- count at the same time; each statement of the function sees what is committed when it begins.
-- A group that another process has locked is passed over, and one without waiting jobs is not locked.
create or replace function svc."__svc.claim_restricted"(
  queue_name text,
  -- How many jobs of which groups the process has room for.
  group_ids text[],
  mosts int[],
  -- Names the process in the jobs that it claims.
  owner text,
  -- The process begins each attempt so soon after it asked, or gives it back.
  begins_within_ms int,
  -- What the process tells of its grants: how long after it had asked the attempt began (null: it was
  -- given back), and how long the attempt took (null: it runs).
  told_grants uuid[],
  told_after_ms float8[],
  told_took_ms float8[]
) returns text
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
#variable_conflict use_column
declare
  wanted record;
  job_group record;
  head record;
  span interval;
  -- A request may reach its receiver so much later than it was begun, but not after its end.
  on_the_way_ms float8;
  -- Attempts that may begin: by the cap of attempts at a time, and by the rate. Null: any number.
  slots_free int;
  rate_free int;
  most int;
  ids uuid[];
  claimed json;
  jobs json[] := '{}';
  count_claimed int;
  count_grants int;
  wait_until timestamptz;
  -- What the process can expect of each group.
  answers json[] := '{}';
begin
  for wanted in
    select group_id, most from unnest(group_ids, mosts) as given (group_id, most) order by group_id
  loop
    -- A lock would be a write, and the settlement of an ordered group passes over a locked row.
    if cardinality(told_grants) = 0
       and (select true from svc_jobs.job as job
             where job.name = queue_name and job.singleton_key = wanted.group_id
               and job.blocked and job.state < 'active' limit 1) is null then
      answers := answers || json_build_object('group', wanted.group_id, 'isTold', true, 'isBusy', false);
      continue;
    end if;

    select * into job_group from svc."__svc.job_groups" as known
     where known.queue = queue_name and known.group_id = wanted.group_id and known.restricted
       for no key update skip locked;
    if not found or job_group.held or job_group.unparked_since is not null then
      answers := answers || json_build_object('group', wanted.group_id, 'isTold', false, 'isBusy', true);
      continue;
    end if;

    most := wanted.most;
    slots_free := null;
    rate_free := null;
    wait_until := null;
    ids := '{}';
    count_claimed := 0;

    if job_group.rate_limit is not null then
      span := job_group.rate_seconds * interval '1 second';
      on_the_way_ms := least(500 * job_group.rate_seconds, 1000);
      if cardinality(told_grants) > 0 then
        delete from svc."__svc.job_grants" as granted
         where granted.id = any(array(
                 select id from unnest(told_grants, told_after_ms) as told (id, after_ms)
                  where after_ms is null))
           and granted.queue = queue_name and granted.group_id = wanted.group_id;
        update svc."__svc.job_grants" as granted
           set begun_by = least(granted.begun_by, granted.granted_at + interval '1 millisecond'
                 * (told.after_ms + least(told.took_ms, on_the_way_ms)))
          from unnest(told_grants, told_after_ms, told_took_ms) as told (id, after_ms, took_ms)
         where granted.id = told.id and told.after_ms is not null
           and granted.queue = queue_name and granted.group_id = wanted.group_id;
      end if;
      delete from svc."__svc.job_grants" as granted
       where granted.queue = queue_name and granted.group_id = wanted.group_id
         and granted.begun_by <= clock_timestamp() - span;
      select job_group.rate_limit - coalesce(sum(granted.attempts), 0), count(*)
        into rate_free, count_grants
        from svc."__svc.job_grants" as granted
       where granted.queue = queue_name and granted.group_id = wanted.group_id;
      most := least(most, rate_free);
      -- Few rows stand for many attempts: those of each 200th of the span count until the last ends.
      if count_grants > 1000 then
        with older as (
          delete from svc."__svc.job_grants" as granted
           where granted.queue = queue_name and granted.group_id = wanted.group_id
             and granted.granted_at < clock_timestamp() - interval '5 seconds'
          returning granted_at, begun_by, attempts
        )
        insert into svc."__svc.job_grants" (id, queue, group_id, granted_at, begun_by, attempts)
        select gen_random_uuid(), queue_name, wanted.group_id, max(granted_at), max(begun_by), sum(attempts)
          from older
         group by floor(extract(epoch from begun_by) * 200 / job_group.rate_seconds);
      end if;
    end if;

    if job_group.ordered or job_group.max_in_flight is not null then
      select case when job_group.ordered then 1 else job_group.max_in_flight end - count(*)
        into slots_free
        from svc_jobs.job as job
       where job.name = queue_name and job.group_id = wanted.group_id and job.state = 'active';
      most := least(most, slots_free);
    end if;

    if most > 0 and job_group.ordered then
      select job.id, job.start_after into head from svc_jobs.job as job
       where job.name = queue_name and job.singleton_key = wanted.group_id
         and job.blocked and job.state < 'active'
       order by job.created_on, job.id limit 1;
      if found and head.start_after <= clock_timestamp() then
        -- Another one must not take its place where it is being changed just now.
        ids := array(select job.id from svc_jobs.job as job
                      where job.name = queue_name and job.id = head.id
                        and job.blocked and job.state < 'active' and job.start_after <= clock_timestamp()
                        for update skip locked);
      end if;
      if cardinality(ids) = 0 then
        wait_until := head.start_after;
      end if;
    elsif most > 0 then
      ids := array(select job.id from svc_jobs.job as job
                    where job.name = queue_name and job.singleton_key = wanted.group_id
                      and job.blocked and job.state < 'active' and job.start_after <= clock_timestamp()
                    order by job.start_after limit most
                    for update skip locked);
    end if;

    if cardinality(ids) > 0 then
      -- A claim that a crash of Postgres forgot would let others begin while the attempt runs.
      perform set_config('synchronous_commit', 'on', true);
      with claimed as (
        update svc_jobs.job as job
           set state = 'active', started_on = clock_timestamp(), heartbeat_on = clock_timestamp(),
               group_tier = "__svc.claim_restricted".owner,
               retry_count = job.retry_count + (job.started_on is not null)::int
         where job.name = queue_name and job.id = any(ids)
        returning job.*
      ), marked as materialized (
        select claimed.*,
               case when job_group.rate_limit is not null then gen_random_uuid() end as grant_id
          from claimed
      ), granted as (
        insert into svc."__svc.job_grants" (id, queue, group_id, granted_at, begun_by)
        select grant_id, queue_name, wanted.group_id, clock_timestamp(),
               clock_timestamp() + (begins_within_ms + on_the_way_ms) * interval '1 millisecond'
          from marked where grant_id is not null
      )
      select count(*),
             json_agg(json_build_object(
               'id', id, 'data', data, 'retryCount', retry_count, 'retryLimit', retry_limit,
               'groupId', group_id, 'createdOn', extract(epoch from created_on)::float8 * 1000,
               'startedOn', started_on::text, 'output', case when retry_count > 0 then output end,
               'grantId', grant_id)
               order by start_after)
        into count_claimed, claimed from marked;
      jobs := jobs || claimed;
    end if;

    if rate_free - count_claimed <= 0 then
      -- When so many have left the span that one more may begin.
      select passing.begun_by + span into wait_until
        from (select granted.begun_by, sum(granted.attempts) over (order by granted.begun_by) as gone
                from svc."__svc.job_grants" as granted
               where granted.queue = queue_name and granted.group_id = wanted.group_id) as passing
       where passing.gone > count_claimed - rate_free
       order by passing.begun_by limit 1;
    elsif wait_until is null and count_claimed < most and not job_group.ordered then
      select job.start_after into wait_until from svc_jobs.job as job
       where job.name = queue_name and job.singleton_key = wanted.group_id
         and job.blocked and job.state < 'active'
       order by job.start_after limit 1;
    end if;
    answers := answers || json_build_object(
      'group', wanted.group_id,
      'isTold', true,
      'isBusy', slots_free - count_claimed <= 0,
      'hasMore', count_claimed = wanted.most,
      -- Null where nothing waits: the time alone brings no job then.
      'waitMs', case when wait_until is not null
                     then greatest(0, extract(epoch from wait_until - clock_timestamp())::float8 * 1000) end);
  end loop;
  return json_build_object('jobs', to_json(jobs), 'answers', to_json(answers))::text;
end
$$;
