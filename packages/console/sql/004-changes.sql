-- Says that something was changed, by whatever process: each change writes a row of the audit.
create function svc."__svc.console.notify_change"() returns trigger
  language plpgsql
as $$
begin
  perform pg_notify('svc.console.changes', '');
  return null;
end
$$;

create trigger "__svc.console.notify_change" after insert on svc."__svc.audit"
  for each statement execute function svc."__svc.console.notify_change"();
