-- For lists of the audit by what was done, to what, and by whom: a kind may be rare among many.
-- The build of an index blocks writers while it reads the table: a table that is large already goes
-- without, until someone runs the statements in the folder indexes.
do $$ begin
  if pg_relation_size('svc."__svc.audit"') < 64 * 1024 * 1024 then
    create index on svc."__svc.audit" (action, id desc);
    create index on svc."__svc.audit" (target_kind, id desc);
    create index on svc."__svc.audit" (actor_kind, id desc);
  end if;
end $$;
