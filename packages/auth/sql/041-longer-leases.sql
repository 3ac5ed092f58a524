-- As in 036, save that a lease lasts for up to five minutes where the window is long, and that
-- retry_ms is not too short after a grant that became a part of the first entry.

-- Grants of one window. `at_ms` is the time; the rest is as in "take_allowances".
create or replace function svc."__svc.auth.take_of_window"(
  whose text, seconds integer, lim integer, holder uuid, late_ms float8,
  want integer, wanted_ahead integer, held_here integer,
  return_stamps float8[], return_counts integer[], at_ms float8,
  out granted integer, out ahead integer, out stamp float8, out used bigint,
  out valid_ms float8, out retry_ms float8, out others_hold integer
) language plpgsql as $$
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
    -- A time far ahead: the clock was set back. What it counts began at the latest now.
    if w.granted_at[i] > now_ms + 5000 then
      w.granted_at[i] := now_ms;
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
