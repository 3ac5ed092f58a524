create or replace function svc."__svc.webhooks.first_id"(day date) returns uuid
language sql immutable
return (lpad(to_hex(case when day < 'epoch' then 0
                         else (extract(epoch from day) * 1000)::bigint end), 12, '0')
        || repeat('0', 20))::uuid;

create or replace function svc."__svc.webhooks.published_id"(event_id text) returns text
language sql immutable parallel safe
return substr(event_id, strpos(event_id, E'\x1f') + 1);

-- What names mean in a function is not for the caller's search_path to decide: schemas of a host may have
-- functions and operators of the same names. New functions say so themselves.
do $$
declare
  made regprocedure;
begin
  for made in
    select pg_proc.oid from pg_proc join pg_language on pg_language.oid = prolang
     where pronamespace = 'svc'::regnamespace and lanname = 'plpgsql'
       and proowner = (select oid from pg_roles where rolname = current_user)
       and not coalesce(proconfig::text, '') like '%search_path%'
  loop
    execute format('alter function %s set search_path = pg_catalog, pg_temp', made);
  end loop;
end
$$;
