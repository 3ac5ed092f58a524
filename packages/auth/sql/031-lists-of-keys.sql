-- For lists of keys by their state: few are revoked, disabled or expire, of however many.
-- The build of an index blocks writers while it reads the table: a table that is large already goes
-- without, until someone runs the statements in the folder indexes.
do $$ begin
  if pg_relation_size('svc."__svc.auth.api_keys"') < 64 * 1024 * 1024 then
    create index api_keys_revoked on svc."__svc.auth.api_keys" (id desc)
      where revoked_at is not null;
    create index api_keys_disabled on svc."__svc.auth.api_keys" (id desc) where not enabled;
    create index api_keys_expiring on svc."__svc.auth.api_keys" (id desc)
      where expires_at is not null;
  end if;
end $$;
