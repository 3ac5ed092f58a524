-- Who has signed in to the console. Of the token in the cookie only the hash is stored.
create table svc."__svc.console.sessions" (
  id uuid primary key,
  token_hash bytea not null unique,
  via text collate "C" not null check (via in ('key', 'portal')),
  -- Null for the bootstrap key, and for a session of the portal.
  key_id uuid,
  -- Text: a portal link may name a user of the host's own.
  user_id text collate "C",
  tenant text collate "C",
  -- What a session of the portal may do; that of a key may do what its key may at the time.
  rights text[],
  ip text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index on svc."__svc.console.sessions" (expires_at);
create index on svc."__svc.console.sessions" (tenant, id) where tenant is not null;

-- Links of the portal that have not been followed yet.
create table svc."__svc.console.portal_codes" (
  code_hash bytea primary key,
  tenant text collate "C" not null,
  user_id text collate "C",
  rights text[] not null,
  expires_at timestamptz not null
);

create index on svc."__svc.console.portal_codes" (expires_at);
create index on svc."__svc.console.portal_codes" (tenant);
