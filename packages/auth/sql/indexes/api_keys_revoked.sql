create index concurrently if not exists api_keys_revoked
  on svc."__svc.auth.api_keys" (id desc) where revoked_at is not null;
