-- Names in rows of the audit: of a webhook its label, else its URL. A deleted one is named by what the
-- change says of it. A role that may not read the table writes rows without names.
create function svc."__svc.webhooks.name_audit"() returns trigger
  language plpgsql
as $$
begin
  select coalesce(label, url) into new.target_name
    from svc."__svc.webhooks.registrations" where id = new.target_id::uuid;
  new.target_name := coalesce(
    new.target_name, new.changes -> 'label' ->> 'from', new.changes -> 'url' ->> 'from');
  return new;
exception
  when insufficient_privilege or undefined_table or invalid_text_representation then return new;
end
$$;

create trigger "__svc.webhooks.name_audit" before insert on svc."__svc.audit"
  for each row when (new.target_kind = 'webhook')
  execute function svc."__svc.webhooks.name_audit"();
