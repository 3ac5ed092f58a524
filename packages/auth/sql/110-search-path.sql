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
