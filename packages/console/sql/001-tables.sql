-- What svcConsole keeps in the schema `svc`. The names carry dots, so they are always quoted.

-- Who has signed in to the console. Of the token in the cookie only the hash is stored.
create table svc."__svc.console.sessions" (
  id uuid primary key,
  token_hash bytea not null unique,
  via text collate "C" not null check (via in ('key', 'portal')),
  -- Null for the bootstrap key, and for a session of the portal.
  key_id uuid,
  -- Of a session of the portal: the key that made its link.
  link_key_id uuid,
  -- { tenant, userId } of who was signed in by the login of the host when the session began.
  login jsonb,
  -- Text: a portal link may name a user of the host's own.
  user_id text collate "C",
  tenant text collate "C",
  -- What a session of the portal may do; that of a key may do what its key may at the time.
  rights text[],
  -- { embed, colorScheme } of a session of the portal: how its page looks.
  look jsonb,
  ip text,
  -- Of a session of the bootstrap key: shows whether the key is still the same. It is computed with the
  -- token of the session, which is not stored.
  bootstrap_seal text collate "C",
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index on svc."__svc.console.sessions" (expires_at);
create index on svc."__svc.console.sessions" (tenant, id) where tenant is not null;

-- Links of the portal that have not been followed yet. A link, and the sessions that it begins, end with
-- the key that made it: a key by its id, the bootstrap key by a seal, as that of its sessions, computed
-- with the text of the link.
create table svc."__svc.console.portal_codes" (
  id uuid primary key,
  code_hash bytea not null unique,
  key_id uuid,
  bootstrap_seal text collate "C",
  tenant text collate "C" not null,
  user_id text collate "C",
  rights text[] not null,
  -- { embed, colorScheme } of the page that it opens.
  look jsonb not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index on svc."__svc.console.portal_codes" (expires_at);
create index on svc."__svc.console.portal_codes" (tenant);
