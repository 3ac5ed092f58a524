create index concurrently if not exists api_keys_disabled
  on svc."__svc.auth.api_keys" (id desc) where not enabled;
