-- Text: a console may have the host's own login, and its ids of users. It rewrites the table, which
-- is quick: the table holds the changes of a year by people. Some databases have this type already,
-- from a 020 that was never released.
do $$ begin
  if exists (select from pg_attribute
              where attrelid = 'svc."__svc.audit"'::regclass and attname = 'actor_user_id'
                and atttypid = 'uuid'::regtype) then
    alter table svc."__svc.audit" alter actor_user_id type text collate "C";
  end if;
end $$;
