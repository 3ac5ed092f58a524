-- A link, and the sessions that it begins, end with the key that made it: a key by its id, the bootstrap
-- key by a seal, as that of its sessions, computed with the text of the link.
delete from svc."__svc.console.portal_codes";
alter table svc."__svc.console.portal_codes"
  add column id uuid not null unique,
  add column key_id uuid,
  add column bootstrap_seal text collate "C",
  add column created_at timestamptz not null default now();

alter table svc."__svc.console.sessions"
  -- Of a session of the portal: the key that made its link.
  add column link_key_id uuid,
  -- { tenant, userId } of who was signed in by the login of the host when the session began.
  add column login jsonb;

-- Sessions that ended: each process looks at the pages that it has open.
create function svc."__svc.console.notify_ended"() returns trigger
  language plpgsql
as $$
begin
  perform pg_notify('svc.console.ended', '');
  return null;
end
$$;

create trigger "__svc.console.notify_ended" after delete on svc."__svc.console.sessions"
  for each statement execute function svc."__svc.console.notify_ended"();

-- The links first: this waits for those that are being followed, whose sessions are then seen.
create or replace function svc."__svc.console.erase_tenant"(which text)
  returns table (kind text, erased bigint)
  language plpgsql
as $$
declare
  links bigint;
  ended bigint;
begin
  delete from svc."__svc.console.portal_codes" where tenant = which;
  get diagnostics links = row_count;
  delete from svc."__svc.console.sessions" where tenant = which or login ->> 'tenant' = which;
  get diagnostics ended = row_count;
  return query select 'sessions', links + ended;
end
$$;
