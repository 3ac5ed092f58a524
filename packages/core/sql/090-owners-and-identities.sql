-- Updates and deletes of a table without a primary key fail under a publication `for all tables`, unless
-- the table has another replica identity.
alter table svc."__svc.filter_changes" replica identity full;

-- What this role has made belongs to the owner of the tables from now on. Logins may come and go: a
-- login that owns a table cannot be dropped, and the owner could not alter that table.
create function svc."__svc.hand_over"() returns void
language plpgsql as $$
declare
  owner oid := (select relowner from pg_class where oid = 'svc."__svc.migrations"'::regclass);
  maker oid := (select oid from pg_roles where rolname = current_user);
  made text;
begin
  if owner = maker then return; end if;
  -- Processes that boot together take turns.
  perform pg_advisory_xact_lock(7763006);
  for made in
    with schema as (
      select oid, nspname, nspowner from pg_namespace where nspname in ('svc', 'svc_jobs')
    )
    select format('schema %I', nspname) from schema where nspowner = maker
    union all
    -- Indexes follow their table, and sequences of a column as well.
    select format('table %I.%I', nspname, relname)
      from schema join pg_class on relnamespace = schema.oid
     where relowner = maker and relkind in ('r', 'p', 'v', 'm')
    union all
    select format('routine %s', pg_proc.oid::regprocedure)
      from schema join pg_proc on pronamespace = schema.oid
     where proowner = maker
    union all
    select format('type %I.%I', nspname, typname)
      from schema join pg_type on typnamespace = schema.oid
     where typowner = maker and typtype in ('d', 'e')
  loop
    begin
      execute format('alter %s owner to %I', made, pg_get_userbyid(owner));
    exception when insufficient_privilege then
      -- The role is no member of the owner, or the owner may make nothing in the schema: it stays, and works.
      null;
    end;
  end loop;
end
$$;
