create index concurrently if not exists api_keys_expiring
  on svc."__svc.auth.api_keys" (id desc) where expires_at is not null;
