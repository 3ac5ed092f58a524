-- What svc.eraseTenant calls, also in a host that has not registered svcConsole.
create function svc."__svc.console.erase_tenant"(which text)
  returns table (kind text, erased bigint)
  language sql
as $$
  with ended as (delete from svc."__svc.console.sessions" where tenant = which returning 1),
       withdrawn as (delete from svc."__svc.console.portal_codes" where tenant = which returning 1)
  select 'sessions', (select count(*) from ended) + (select count(*) from withdrawn)
$$;
