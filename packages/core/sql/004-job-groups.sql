-- A group is what jobs belong together by: the webhook of a delivery. A row here says that jobs of
-- the group are not fetched in the ordinary way, or stand apart from the others ("parked": blocked
-- in pg-boss's table, and therefore not in the index that fetches walk).
create table svc."__svc.job_groups" (
  queue text collate "C" not null,
  group_id text collate "C" not null,
  -- No job of the group is started: its webhook is inactive or deleted.
  held boolean not null default false,
  -- The last attempts of the group failed: its jobs are tried few at a time.
  circuit_open boolean not null default false,
  -- When a job of the group was parked last. A row may go only a while after that.
  parked_at timestamptz not null default now(),
  primary key (queue, group_id)
);

-- Work on many jobs of one group, which is done in portions: what an operator asked for is answered
-- at once, and holds from then on.
create table svc."__svc.job_moves" (
  id bigint generated always as identity primary key,
  queue text collate "C" not null,
  group_id text collate "C" not null,
  -- 'discard': delete what waits. 'redrive': put dead letters back to work. 'bury': delete them.
  kind text not null check (kind in ('discard', 'redrive', 'bury')),
  -- For dead letters: only those with a smaller id.
  before_id uuid,
  created_at timestamptz not null default now()
);

create index on svc."__svc.job_moves" (queue, group_id);

-- The smallest UUIDv7 of a moment (RFC 9562, section 5.7).
create function svc."__svc.first_uuid"(at timestamptz) returns uuid
language sql immutable as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- A dead letter gets a UUIDv7: newest first is a sort by id, and a page can begin after an id whose
-- letter is gone. pg-boss draws random ids.
create function svc."__svc.dead_letter_id"() returns trigger language plpgsql as $$
begin
  new.id := overlay(
    overlay(gen_random_uuid()::text placing left(svc."__svc.first_uuid"(new.created_on)::text, 13) from 1 for 13)
    placing '7' from 15 for 1)::uuid;
  return new;
end
$$;
