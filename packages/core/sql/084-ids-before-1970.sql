-- A UUIDv7 has no time before 1970: the smallest one of such a moment is the smallest of all. The digits
-- of a negative number made it larger than every id, so that a retention that reached back so far
-- deleted all rows.
create or replace function svc."__svc.first_uuid"(at timestamptz) returns uuid
language sql immutable as $$
  select (lpad(to_hex(case when at < 'epoch' then 0
                           else floor(extract(epoch from at) * 1000)::bigint end), 12, '0')
          || repeat('0', 20))::uuid
$$;
