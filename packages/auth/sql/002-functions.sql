-- A trigger and not a default: a restored dump names the column, with a value of another time.
create function svc."__svc.auth.mark_new_key"() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.inserted_in := pg_current_xact_id();
  return new;
end
$$;

create trigger mark_inserted before insert or update of key_hash on svc."__svc.auth.api_keys"
  for each row execute function svc."__svc.auth.mark_new_key"();

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

-- A trigger, so that every statement that revokes a key is recorded, also one typed into psql. An
-- insert needs none: no process can remember a key that did not exist.
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
     where (was.key_hash, was.user_id, was.scopes, was.expires_at, was.revoked_at,
            was.tenant, was.enabled, was.allowed_ips, was.limits, was.quota, was.allowances_of)
        is distinct from (now.key_hash, now.user_id, now.scopes, now.expires_at, now.revoked_at,
                          now.tenant, now.enabled, now.allowed_ips, now.limits, now.quota,
                          now.allowances_of);
  else
    select array_agg(was.key_hash) into changed from was;
  end if;
  if changed is not null then
    update svc."__svc.auth.epoch"
       set epoch = epoch + cardinality(changed),
           dropped = (dropped || changed)
             [greatest(1, cardinality(dropped) + cardinality(changed) - 255):];
    perform pg_notify('__svc.auth.keys_changed', '');
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

-- Grants of one window. `at_ms` is the time; the rest is as in "grant_allowances".
create function svc."__svc.auth.grant_of_window"(
  whose text, seconds integer, lim integer, holder uuid, late_ms float8,
  want integer, wanted_ahead integer, held_here integer,
  return_stamps float8[], return_counts integer[], at_ms float8,
  out granted integer, out ahead integer, out stamp float8, out used bigint,
  out valid_ms float8, out retry_ms float8, out others_hold integer
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  w svc."__svc.auth.windows";
  window_ms float8 := seconds * 1000.0;
  -- How long a process may hold allowances ahead of need. After a kill the part of the tenth that the
  -- process held is missing for as long. The package calculates the same.
  lease_ms float8 := least(window_ms, greatest(60000, least(window_ms / 12, 300000)));
  slice_ms float8 := case when lim > 128 then window_ms / 128 end;
  now_ms float8;
  times float8[] := '{}';
  counts integer[] := '{}';
  -- The holders that are left, and what they hold.
  ids uuid[] := '{}';
  amounts integer[] := '{}';
  ends float8[] := '{}';
  first_at float8;
  found_at integer;
  others integer := 0;
  -- Granted just now to requests that waited, and given back where they need it no more.
  unsure integer := 0;
  is_set_back boolean := false;
  most_ahead integer := case when lim > 10 then lim / 10 else 0 end;
begin
  loop
    select * into w from svc."__svc.auth.windows" as r
     where r.subject = whose and r.per_seconds = seconds for update;
    exit when found;
    -- What is given back of a row that was deleted makes no new one.
    if want = 0 and wanted_ahead = 0 then
      w.granted_at := '{}';
      w.granted := '{}';
      w.holders := '{}';
      w.held := '{}';
      w.held_until := '{}';
      exit;
    end if;
    insert into svc."__svc.auth.windows" (subject, per_seconds, unused_after)
    values (whose, seconds, 'infinity') on conflict do nothing;
  end loop;
  -- Read under the lock, so that a later grant has a later time.
  now_ms := coalesce(at_ms, extract(epoch from clock_timestamp())::float8 * 1000);
  stamp := now_ms + late_ms;

  for r in 1 .. coalesce(cardinality(return_stamps), 0) loop
    -- Its entry has left the window: a later one would become less.
    continue when return_stamps[r] + window_ms <= now_ms;
    -- The entry that the grant became a part of: it has the first time from the stamp on.
    found_at := null;
    for i in 1 .. cardinality(w.granted_at) loop
      if w.granted_at[i] >= return_stamps[r]
         and (found_at is null or w.granted_at[i] < w.granted_at[found_at]) then
        found_at := i;
      end if;
    end loop;
    if found_at is not null then
      w.granted[found_at] := greatest(0, w.granted[found_at] - return_counts[r]);
    end if;
  end loop;

  used := 0;
  found_at := null;
  for i in 1 .. cardinality(w.granted_at) loop
    -- A time far ahead: the clock was set back. What it counts is used at the latest by the end of the
    -- longest late_ms.
    if w.granted_at[i] > now_ms + 5000 then
      w.granted_at[i] := now_ms + 2000;
      is_set_back := true;
    end if;
    if w.granted_at[i] + window_ms > now_ms and w.granted[i] > 0 then
      times := times || w.granted_at[i];
      counts := counts || w.granted[i];
      used := used + w.granted[i];
      first_at := least(first_at, w.granted_at[i]);
      if w.granted_at[i] > now_ms then unsure := unsure + w.granted[i]; end if;
      if floor(w.granted_at[i] / slice_ms) = floor(stamp / slice_ms) then
        found_at := cardinality(times);
      end if;
    end if;
  end loop;
  granted := greatest(0, least(want, lim - used));

  for i in 1 .. cardinality(w.holders) loop
    if w.holders[i] <> holder and w.held_until[i] > now_ms then
      ids := ids || w.holders[i];
      amounts := amounts || w.held[i];
      ends := ends || least(w.held_until[i], now_ms + lease_ms);
      is_set_back := is_set_back or w.held_until[i] > now_ms + lease_ms;
      others := others + w.held[i];
    end if;
  end loop;
  others_hold := others + unsure;
  valid_ms := lease_ms;
  -- An even share of what may be held in all, and never more than is left of it.
  ahead := greatest(0, least(wanted_ahead, lim - used - granted, most_ahead - others - held_here,
    ceil(most_ahead::float8 / (cardinality(ids) + 1))::integer - held_here));
  if wanted_ahead > 0 or held_here + ahead > 0 then
    ids := ids || holder;
    amounts := amounts || held_here + ahead;
    ends := ends || now_ms + valid_ms;
  end if;

  if granted + ahead > 0 then
    if found_at is null then
      times := times || stamp;
      counts := counts || granted + ahead;
    else
      times[found_at] := greatest(times[found_at], stamp);
      counts[found_at] := counts[found_at] + granted + ahead;
      stamp := times[found_at];
      -- Where that entry was the first, another one may be now.
      first_at := null;
      for i in 1 .. cardinality(times) loop
        first_at := least(first_at, times[i]);
      end loop;
    end if;
    used := used + granted + ahead;
    first_at := least(first_at, stamp);
  end if;
  if first_at is not null then retry_ms := greatest(0, first_at + window_ms - now_ms); end if;
  -- Nothing but times that have passed would be written.
  if granted + ahead = 0 and coalesce(cardinality(return_stamps), 0) = 0 and not is_set_back
     and ids = w.holders and amounts = w.held then
    return;
  end if;
  update svc."__svc.auth.windows" as r
     set granted_at = times, granted = counts, holders = ids, held = amounts, held_until = ends,
         unused_after = date_trunc('hour', to_timestamp((now_ms + window_ms) / 1000))
           + interval '2 hours'
   where r.subject = whose and r.per_seconds = seconds;
end
$$;

-- Grants of one quota. Each need is one of "costs", as often as "times" says, in the order in which the
-- requests came. The process spends "held_here" first.
create function svc."__svc.auth.grant_of_quota"(
  whose text, quota_period text, lim integer, costs integer[], times integer[],
  wanted_ahead integer, held_here integer,
  return_stamps float8[], return_counts integer[], at_ms float8,
  out granted integer, out ahead integer, out stamp float8, out used bigint,
  out valid_ms float8, out retry_ms float8, out others_hold integer
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  q svc."__svc.auth.quotas";
  now_at timestamptz;
  starts timestamptz;
  ends timestamptz;
  needs integer := coalesce(cardinality(costs), 0);
  unspent bigint := held_here;
  passed bigint;
  is_short boolean := false;
begin
  if needs > 0 or wanted_ahead > 0 then
    insert into svc."__svc.auth.quotas" values (whose, quota_period, '-infinity', 0)
        on conflict do nothing;
  end if;
  select * into q from svc."__svc.auth.quotas" as r
   where r.subject = whose and r.period = quota_period for update;
  now_at := coalesce(to_timestamp(at_ms / 1000), clock_timestamp());
  if not found then
    q.period_start := '-infinity';
    q.granted := 0;
  end if;
  starts := case when quota_period = 'total' then to_timestamp(0)
    else date_trunc(quota_period, now_at, 'utc') end;
  -- Where the clock was set back the later period goes on.
  if q.period_start < starts then
    q.period_start := starts;
    q.granted := 0;
  end if;
  if quota_period <> 'total' then
    ends := (q.period_start at time zone 'utc' + ('1 ' || quota_period)::interval) at time zone 'utc';
  end if;
  stamp := extract(epoch from q.period_start)::float8 * 1000;
  for r in 1 .. coalesce(cardinality(return_stamps), 0) loop
    if return_stamps[r] = stamp then q.granted := greatest(0, q.granted - return_counts[r]); end if;
  end loop;

  granted := 0;
  for n in 1 .. needs loop
    passed := least(times[n], greatest(0, lim - q.granted - granted + unspent) / costs[n]);
    is_short := is_short or passed < times[n];
    granted := granted + greatest(0, passed * costs[n] - unspent);
    unspent := greatest(0, unspent - passed * costs[n]);
  end loop;
  -- A tenth of what is left: the last ones are taken one by one. None for a key that is short of some.
  ahead := case when is_short then 0
    else greatest(0, least(wanted_ahead, (lim - q.granted - granted) / 10)) end;
  q.granted := q.granted + granted + ahead;
  used := q.granted;
  valid_ms := extract(epoch from ends - now_at)::float8 * 1000;
  retry_ms := valid_ms;
  others_hold := 0;
  update svc."__svc.auth.quotas" as r
     set period_start = q.period_start, granted = q.granted
   where r.subject = whose and r.period = quota_period
     and (r.period_start, r.granted) is distinct from (q.period_start, q.granted);
end
$$;

-- For all limits and quotas that a process needs allowances of, one element of the arrays each.
-- `wants`: for requests that wait; they use what they are granted within `late_ms`, and it counts from
-- then on. `aheads`: for later requests, at most. `helds`: what the process `holder` holds ahead of
-- need already. `return_*`: what it gives back of the grant of that stamp, with the place of the ask.
-- The needs of the quota at place n are the `need_costs` and `need_times` from the end of the place
-- before it to `need_ends`[n]: what waits for a quota gets all that it needs, or nothing.
create function svc."__svc.auth.grant_allowances"(
  holder uuid, late_ms float8, subjects text[], periods text[], limits integer[],
  wants integer[], aheads integer[], helds integer[],
  need_ends integer[], need_costs integer[], need_times integer[],
  return_places integer[], return_stamps float8[], return_counts integer[],
  at_ms float8 default null
) returns table (place integer, granted integer, ahead integer, stamp float8, used bigint,
  valid_ms float8, retry_ms float8, others_hold integer)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  stamps float8[];
  counts integer[];
  needs_from integer;
begin
  -- A crash of Postgres may lose the grants of the last moments, of limits but not of quotas: a
  -- request that waits for them need not wait for the disk.
  if not periods && array['day', 'month', 'total'] then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  -- In one order in all processes: two statements cannot wait for each other.
  for place in
    select i from generate_subscripts(subjects, 1) as i
     order by subjects[i] collate "C", periods[i] collate "C"
  loop
    select array_agg(return_stamps[r]), array_agg(return_counts[r]) into stamps, counts
      from generate_subscripts(return_places, 1) as r where return_places[r] = place;
    if periods[place] in ('day', 'month', 'total') then
      needs_from := coalesce(need_ends[place - 1], 0) + 1;
      select * into granted, ahead, stamp, used, valid_ms, retry_ms, others_hold
        from svc."__svc.auth.grant_of_quota"(subjects[place], periods[place], limits[place],
          need_costs[needs_from : need_ends[place]], need_times[needs_from : need_ends[place]],
          aheads[place], helds[place], stamps, counts, at_ms);
    else
      select * into granted, ahead, stamp, used, valid_ms, retry_ms, others_hold
        from svc."__svc.auth.grant_of_window"(subjects[place], periods[place]::integer, limits[place],
          holder, late_ms, wants[place], aheads[place], helds[place], stamps, counts, at_ms);
    end if;
    return next;
  end loop;
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
