-- Which addresses are equal does not depend on the collation of the database: in a Turkish one lower('I')
-- is 'ı'. Addresses are ASCII, see the format of the field.
do $$
declare
  name text;
begin
  for name in
    select relname from pg_index join pg_class on pg_class.oid = indexrelid
     where indrelid = 'svc."__svc.auth.users"'::regclass and indisunique and not indisprimary
       and indexprs is not null
  loop
    execute format('drop index svc.%I', name);
  end loop;
end
$$;

create unique index on svc."__svc.auth.users" (lower(email collate "C"));
create unique index on svc."__svc.auth.users" (tenant, lower(tenant_email collate "C"))
  where tenant is not null;
