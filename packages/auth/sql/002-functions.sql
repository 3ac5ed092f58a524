-- In a restore the row of the user may come later: the tenant in the dump stays then.
create function svc."__svc.auth.tenant_of_key"() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.tenant := coalesce(
    (select users.tenant from svc."__svc.auth.users" as users where users.id = new.user_id),
    new.tenant);
  return new;
end
$$;

create trigger take_tenant before insert on svc."__svc.auth.api_keys"
  for each row execute function svc."__svc.auth.tenant_of_key"();

create trigger note_tenant after insert on svc."__svc.auth.users"
  for each row when (new.tenant is not null) execute function svc."__svc.note_tenant"();

-- What processes have remembered and shall forget: hashes of keys, and `plan:<tenant>`.
create function svc."__svc.auth.tell_changed"(changed text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update svc."__svc.auth.epoch"
     set epoch = epoch + cardinality(changed),
         dropped = (dropped || changed)
           [greatest(1, cardinality(dropped) + cardinality(changed) - 255):],
         marks = (marks || array_fill(random(), array[cardinality(changed)]))
           [greatest(1, cardinality(dropped) + cardinality(changed) - 255):];
  perform pg_notify('__svc.auth.keys_changed', '');
end
$$;

-- A trigger, so that every statement that revokes a key is recorded, also one typed into psql. An
-- insert needs none: no process can remember a key that did not exist, nor one whose hash is not known.
create function svc."__svc.auth.tell_changed_keys"() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  changed text[];
begin
  if tg_op = 'UPDATE' then
    select array_agg(was.key_hash) into changed
      from was join now using (id)
     where was.key_hash is not null
       and (was.key_hash, was.user_id, was.scopes, was.expires_at, was.revoked_at,
            was.tenant, was.enabled, was.allowed_ips, was.limits, was.quota, was.allowances_of)
        is distinct from (now.key_hash, now.user_id, now.scopes, now.expires_at, now.revoked_at,
                          now.tenant, now.enabled, now.allowed_ips, now.limits, now.quota,
                          now.allowances_of);
  else
    select array_agg(was.key_hash) into changed from was where was.key_hash is not null;
  end if;
  if changed is not null then
    perform svc."__svc.auth.tell_changed"(changed);
  end if;
  return null;
end
$$;

create trigger tell_updated after update on svc."__svc.auth.api_keys"
  referencing old table as was new table as now
  for each statement execute function svc."__svc.auth.tell_changed_keys"();

create trigger tell_deleted after delete on svc."__svc.auth.api_keys"
  referencing old table as was
  for each statement execute function svc."__svc.auth.tell_changed_keys"();

-- What a process gets of one window. `want`: for requests that wait, as decided by "allot_allowances",
-- which has locked the row. They use it within `late_ms`, and it counts from then on. `wanted_ahead`:
-- for later requests, at most. `held_here`: what the process holds ahead of need already. It gives
-- `returned` back of allotments since `returned_stamp`, as long as that allotment is in the window. `valid_ms`: for
-- how long it may use what it holds.
create function svc."__svc.auth.allotment_of_window"(
  whose text, seconds integer, lim integer, holder uuid, late_ms float8,
  want integer, wanted_ahead integer, held_here integer,
  returned integer, returned_stamp float8, now_ms float8,
  out ahead integer, out stamp float8, out used bigint, out valid_ms float8, out retry_ms float8
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  w svc."__svc.auth.windows";
  window_ms float8 := seconds * 1000.0;
  -- How long a process may hold allowances ahead of need. After a kill the part of the tenth that the
  -- process held is missing for as long.
  hold_ms float8 := least(window_ms, greatest(60000, least(window_ms / 12, 300000)));
  slice_ms float8 := case when lim > 128 then window_ms / 128 end;
  most_ahead integer := case when lim > 10 then lim / 10 else 0 end;
  times float8[] := '{}';
  counts integer[] := '{}';
  -- The holders that are left, and what they hold.
  ids uuid[] := '{}';
  amounts integer[] := '{}';
  ends float8[] := '{}';
  others integer := 0;
  first_at float8;
  found_at integer;
  less integer;
  is_changed boolean := want > 0;
begin
  used := 0;
  ahead := 0;
  select * into w from svc."__svc.auth.windows" as r
   where r.subject = whose and r.per_seconds = seconds;
  if not found then return; end if;
  stamp := now_ms + late_ms;

  if returned > 0 then
    -- The oldest of those since `returned_stamp` become less: what is used is never counted for less than a
    -- window, and what was used before that leaves it in its time.
    select array_agg(at order by at), array_agg(count order by at) into w.allotted_at, w.allotted
      from unnest(w.allotted_at, w.allotted) as entry (at, count);
  end if;
  for i in 1 .. coalesce(cardinality(w.allotted_at), 0) loop
    if w.allotted_at[i] + window_ms <= now_ms then continue; end if;
    less := case when returned_stamp + window_ms > now_ms and w.allotted_at[i] >= returned_stamp
      then least(returned, w.allotted[i]) else 0 end;
    if less > 0 then
      returned := returned - less;
      w.allotted[i] := w.allotted[i] - less;
      is_changed := true;
    end if;
    -- A time far ahead: the clock was set back. What it counts is used at the latest by the end of the
    -- longest late_ms.
    if w.allotted_at[i] > now_ms + 5000 then
      w.allotted_at[i] := now_ms + 2000;
      is_changed := true;
    end if;
    if w.allotted[i] > 0 then
      times := times || w.allotted_at[i];
      counts := counts || w.allotted[i];
      used := used + w.allotted[i];
      if floor(w.allotted_at[i] / slice_ms) = floor(stamp / slice_ms) then
        found_at := cardinality(times);
      end if;
    end if;
  end loop;

  for i in 1 .. cardinality(w.holders) loop
    if w.holders[i] = holder then
      valid_ms := least(w.held_until[i] - now_ms, hold_ms);
      is_changed := is_changed or w.held[i] <> held_here;
    elsif w.held_until[i] > now_ms then
      ids := ids || w.holders[i];
      amounts := amounts || w.held[i];
      ends := ends || least(w.held_until[i], now_ms + hold_ms);
      is_changed := is_changed or w.held_until[i] > now_ms + hold_ms;
      others := others + w.held[i];
    end if;
  end loop;
  -- An even share of what may be held in all, and never more than is left of it.
  ahead := greatest(0, least(wanted_ahead, lim - used - want, most_ahead - others - held_here,
    ceil(most_ahead::float8 / (cardinality(ids) + 1))::integer - held_here));
  if wanted_ahead > 0 or held_here > 0 then
    -- What it holds ends as before where nothing else is written.
    if ahead > 0 or valid_ms is null or valid_ms < hold_ms * 0.7 then
      valid_ms := hold_ms;
      is_changed := true;
    end if;
    ids := ids || holder;
    amounts := amounts || held_here + ahead;
    ends := ends || now_ms + valid_ms;
  end if;

  if want + ahead > 0 then
    if found_at is null then
      times := times || stamp;
      counts := counts || want + ahead;
    else
      times[found_at] := greatest(times[found_at], stamp);
      counts[found_at] := counts[found_at] + want + ahead;
      stamp := times[found_at];
    end if;
    used := used + want + ahead;
  end if;
  select greatest(0, min(at) + window_ms - now_ms) into retry_ms
    from unnest(times) as at having count(*) > 0;
  -- Else nothing but times that have passed would be written.
  if not is_changed then return; end if;
  update svc."__svc.auth.windows" as r
     set allotted_at = times, allotted = counts, holders = ids, held = amounts, held_until = ends,
         unused_after = date_trunc('hour', to_timestamp((now_ms + window_ms) / 1000))
           + interval '2 hours'
   where r.subject = whose and r.per_seconds = seconds;
end
$$;

-- The beginning of a quota's period at that time.
create function svc."__svc.auth.period_start"(quota_period text, at timestamptz) returns timestamptz
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case quota_period when 'total' then to_timestamp(0)
    else date_trunc(quota_period, at, 'utc') end
$$;

-- The same of one quota. What is allotted or taken back counts for all `periods`: the plans of a tenant may
-- have several. An allotment counts for the periods that have begun by its stamp.
create function svc."__svc.auth.allotment_of_quota"(
  whose text, quota_period text, periods text[], lim integer, want integer, wanted_ahead integer,
  returned integer, returned_stamp float8, now_ms float8,
  out ahead integer, out stamp float8, out used bigint, out valid_ms float8, out retry_ms float8
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  q svc."__svc.auth.quotas";
  at timestamptz := to_timestamp(now_ms / 1000);
  starts timestamptz := svc."__svc.auth.period_start"(quota_period, at);
  starts_ms float8;
begin
  used := 0;
  ahead := 0;
  select * into q from svc."__svc.auth.quotas" as r
   where r.subject = whose and r.period = quota_period;
  -- Where the clock was set back the later period goes on.
  if q.period_start > starts then starts := q.period_start; end if;
  starts_ms := extract(epoch from starts)::float8 * 1000;
  select greatest(starts_ms,
           extract(epoch from max(svc."__svc.auth.period_start"(one, at)))::float8 * 1000)
    into stamp from unnest(periods) as one;
  if quota_period <> 'total' then
    valid_ms := extract(epoch from (starts at time zone 'utc' + ('1 ' || quota_period)::interval)
      at time zone 'utc')::float8 * 1000 - now_ms;
    retry_ms := valid_ms;
  end if;
  if q.period is null then return; end if;
  used := case when q.period_start = starts then q.allotted else 0 end;
  if returned_stamp >= starts_ms then used := greatest(0, used - returned); end if;
  -- A tenth of what is left: the last ones are taken one by one.
  ahead := greatest(0, least(wanted_ahead, (lim - used - want) / 10));
  used := used + want + ahead;
  update svc."__svc.auth.quotas" as r
     set period_start = starts, allotted = used
   where r.subject = whose and r.period = quota_period
     and (r.period_start, r.allotted) is distinct from (starts, used);
  update svc."__svc.auth.quotas" as r
     set period_start = greatest(r.period_start, begun.starts),
         allotted = want + ahead + case when r.period_start < begun.starts then 0
           when returned_stamp < extract(epoch from r.period_start) * 1000 then r.allotted
           else greatest(0, r.allotted - returned) end
    from (select one as period, svc."__svc.auth.period_start"(one, at) as starts
            from unnest(periods) as one where one <> quota_period) as begun
   where r.subject = whose and r.period = begun.period;
end
$$;

-- What a process gets of limits and quotas, for requests that wait and ahead of need.
--   places: [{ subject, seconds, period, limit, demanded, ahead, held, returned, stamp }]. A limit has
--     `seconds`, a quota its `period`, and `periods` where it counts for more than its own; `demanded`: a demand names it; the rest is as in
--     "allotment_of_window".
--   demands: [{ on: [[place, limit, reserved]], needs: [[cost, times]] }], the requests of a key. Each of
--     them takes one of every limit and its cost of every quota that it is `on`, or nothing of any. What
--     the process has `reserved` of what it holds is taken first. Places count from 0.
-- Returns { passed: [[times]], places: [[ahead, stamp, used, valid_ms, retry_ms]] }: how many of each
-- need pass. Needs are served in their order.
create function svc."__svc.auth.allot_allowances"(
  holder uuid, late_ms float8, places jsonb, demands jsonb, at_ms float8 default null
) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  now_ms float8;
  -- Of each place: whether it is a quota, how much is used, how much of that is allotted to requests here,
  -- and whether a request is refused that needed it: then nothing is allotted ahead of need.
  is_quota boolean[];
  used bigint[];
  wants integer[];
  is_short boolean[];
  place record;
  answer record;
  demand jsonb;
  need jsonb;
  -- Of each target of a demand: its place, its limit, and what is left of what is reserved.
  spots integer[];
  limits integer[];
  reserved integer[];
  cost integer;
  passing integer;
  allotted integer;
  passed integer[];
  all_passed jsonb[] := '{}';
  answers jsonb[] := '{}';
begin
  -- A crash of Postgres may undo the allotments of the last moments, of limits but not of quotas: a
  -- request that waits for them need not wait for the disk.
  if not places @? '$[*].period ? (@ != null)' then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  -- In one order in all processes: two statements cannot wait for each other. What is only given back
  -- makes no row.
  insert into svc."__svc.auth.windows" (subject, per_seconds, unused_after)
  select p.subject, p.seconds, 'infinity'
    from jsonb_to_recordset(places) as p (subject text, seconds integer, demanded boolean, ahead integer)
   where p.seconds is not null and (p.demanded or p.ahead > 0)
   order by p.subject collate "C", p.seconds
      on conflict do nothing;
  insert into svc."__svc.auth.quotas" (subject, period, period_start, allotted)
  select p.subject, one, '-infinity', 0
    from jsonb_to_recordset(places)
           as p (subject text, period text, periods text[], demanded boolean, ahead integer),
         unnest(coalesce(p.periods, array[p.period])) as one
   where p.period is not null and (p.demanded or p.ahead > 0)
   order by p.subject collate "C", one collate "C"
      on conflict do nothing;
  perform from svc."__svc.auth.windows" as r
    join jsonb_to_recordset(places) as p (subject text, seconds integer)
      on r.subject = p.subject and r.per_seconds = p.seconds
   order by r.subject, r.per_seconds for update of r;
  perform from svc."__svc.auth.quotas" as r
    join jsonb_to_recordset(places) as p (subject text, period text, periods text[])
      on r.subject = p.subject and r.period = any (coalesce(p.periods, array[p.period]))
   order by r.subject, r.period for update of r;
  -- Read under the locks, so that a later allotment has a later time.
  now_ms := coalesce(at_ms, extract(epoch from clock_timestamp())::float8 * 1000);

  select array_agg(p.period is not null order by p.place),
         array_agg(case when p.period is null then of_window.used else coalesce(of_quota.allotted, 0) end
                   order by p.place),
         array_agg(0),
         array_agg(false)
    into is_quota, used, wants, is_short
    from rows from (jsonb_to_recordset(places)
           as (subject text, seconds integer, period text, returned integer, stamp float8))
         with ordinality as p (subject, seconds, period, returned, stamp, place)
    left join lateral (
      -- Without what "allotment_of_window" takes back.
      select greatest(0, sum(entry.count)
               - case when p.stamp + p.seconds * 1000.0 > now_ms
                   then least(p.returned, coalesce(sum(entry.count) filter (where entry.at >= p.stamp), 0))
                   else 0 end) as used
        from svc."__svc.auth.windows" as r, unnest(r.allotted_at, r.allotted) as entry (at, count)
       where r.subject = p.subject and r.per_seconds = p.seconds
         and entry.at + r.per_seconds * 1000.0 > now_ms) as of_window on true
    left join svc."__svc.auth.quotas" as of_quota
      on of_quota.subject = p.subject and of_quota.period = p.period
     and of_quota.period_start
         >= svc."__svc.auth.period_start"(of_quota.period, to_timestamp(now_ms / 1000));

  for demand in select jsonb_array_elements(demands) loop
    select array_agg((value ->> 0)::integer + 1), array_agg((value ->> 1)::integer),
           array_agg((value ->> 2)::integer)
      into spots, limits, reserved
      from jsonb_array_elements(demand -> 'on');
    passed := '{}';
    for need in select jsonb_array_elements(demand -> 'needs') loop
      passing := need -> 1;
      for n in 1 .. cardinality(spots) loop
        cost := case when is_quota[spots[n]] then (need -> 0)::integer else 1 end;
        if cost > 0 then
          passing := least(passing, greatest(0, limits[n] - used[spots[n]] + reserved[n]) / cost);
        end if;
      end loop;
      for n in 1 .. cardinality(spots) loop
        cost := case when is_quota[spots[n]] then (need -> 0)::integer else 1 end;
        allotted := greatest(0, passing * cost - reserved[n]);
        reserved[n] := greatest(0, reserved[n] - passing * cost);
        used[spots[n]] := used[spots[n]] + allotted;
        wants[spots[n]] := wants[spots[n]] + allotted;
        is_short[spots[n]] := is_short[spots[n]] or passing < (need -> 1)::integer;
      end loop;
      passed := passed || passing;
    end loop;
    all_passed := all_passed || to_jsonb(passed);
  end loop;

  for place in
    select * from rows from (jsonb_to_recordset(places) as (subject text, seconds integer,
      period text, periods text[], "limit" integer, ahead integer, held integer, returned integer,
      stamp float8)) with ordinality as p (subject, seconds, period, periods, lim, ahead, held, returned, stamp, nth)
  loop
    if is_short[place.nth] then place.ahead := 0; end if;
    if place.seconds is null then
      select * into answer from svc."__svc.auth.allotment_of_quota"(place.subject, place.period,
        coalesce(place.periods, array[place.period]), place.lim, wants[place.nth], place.ahead, place.returned, place.stamp, now_ms);
    else
      select * into answer from svc."__svc.auth.allotment_of_window"(place.subject, place.seconds, place.lim,
        holder, late_ms, wants[place.nth], place.ahead, place.held, place.returned, place.stamp,
        now_ms);
    end if;
    answers := answers || jsonb_build_array(answer.ahead, answer.stamp, answer.used, answer.valid_ms,
      answer.retry_ms);
  end loop;
  return jsonb_build_object('passed', all_passed, 'places', answers);
end
$$;

-- Names in rows of the audit: of a key its label, else the name of its user. A deleted user is named by
-- what the change says of it. A role that may not read these tables writes rows without names.
create function svc."__svc.auth.name_audit"() returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  is_user boolean := new.actor_user_id ~ '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$';
begin
  if new.actor_key_id is not null then
    select coalesce(keys.label, users.name) into new.actor_name
      from svc."__svc.auth.api_keys" as keys
      left join svc."__svc.auth.users" as users on users.id = keys.user_id
     where keys.id = new.actor_key_id;
  elsif is_user then
    select name into new.actor_name from svc."__svc.auth.users" where id = new.actor_user_id::uuid;
  end if;
  if new.target_kind = 'key' then
    select coalesce(keys.label, users.name) into new.target_name
      from svc."__svc.auth.api_keys" as keys
      left join svc."__svc.auth.users" as users on users.id = keys.user_id
     where keys.id = new.target_id::uuid;
  elsif new.target_kind = 'user' then
    select name into new.target_name from svc."__svc.auth.users" where id = new.target_id::uuid;
    new.target_name := coalesce(new.target_name, new.changes -> 'name' ->> 'from');
  end if;
  return new;
exception
  when insufficient_privilege or undefined_table or invalid_text_representation then return new;
end
$$;

create trigger "__svc.auth.name_audit" before insert on svc."__svc.audit"
  for each row execute function svc."__svc.auth.name_audit"();
