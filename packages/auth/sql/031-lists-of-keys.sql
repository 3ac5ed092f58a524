-- For lists of keys by their state: few are revoked, disabled or expire, of however many.
create index api_keys_revoked on svc."__svc.auth.api_keys" (id desc) where revoked_at is not null;
create index api_keys_disabled on svc."__svc.auth.api_keys" (id desc) where not enabled;
create index api_keys_expiring on svc."__svc.auth.api_keys" (id desc) where expires_at is not null;
