-- Sessions that ended: each process looks at the pages that it has open.
create function svc."__svc.console.notify_ended"() returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_notify('svc.console.ended', '');
  return null;
end
$$;

create trigger "__svc.console.notify_ended" after delete on svc."__svc.console.sessions"
  for each statement execute function svc."__svc.console.notify_ended"();

-- What svc.eraseTenant calls, also in a host that has not registered svcConsole. The links first: this waits for those that are being followed, whose sessions are then seen.
create function svc."__svc.console.erase_tenant"(which text)
  returns table (kind text, erased bigint)
  language plpgsql
  set search_path = pg_catalog, pg_temp
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

-- Says that something was changed, by whatever process: each change writes a row of the audit.
create function svc."__svc.console.notify_change"() returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_notify('svc.console.changes', '');
  return null;
end
$$;

create trigger "__svc.console.notify_change" after insert on svc."__svc.audit"
  for each statement execute function svc."__svc.console.notify_change"();
