-- Names in rows of the audit: of a key its label, else the name of its user. A deleted user is named by
-- what the change says of it. A role that may not read these tables writes rows without names.
create function svc."__svc.auth.name_audit"() returns trigger
  language plpgsql
as $$
declare
  is_user boolean := new.actor_user_id ~ '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$';
begin
  if new.actor_key_id is not null then
    select coalesce(keys.label, users.name) into new.actor_name
      from svc."__svc.auth.api_keys" as keys
      left join svc."__svc.auth.users" as users on users.id = keys.user_id
     where keys.id = new.actor_key_id;
  elsif is_user then
    select name into new.actor_name from svc."__svc.auth.users" where id = new.actor_user_id::uuid;
  end if;
  if new.target_kind = 'key' then
    select coalesce(keys.label, users.name) into new.target_name
      from svc."__svc.auth.api_keys" as keys
      left join svc."__svc.auth.users" as users on users.id = keys.user_id
     where keys.id = new.target_id::uuid;
  elsif new.target_kind = 'user' then
    select name into new.target_name from svc."__svc.auth.users" where id = new.target_id::uuid;
    new.target_name := coalesce(new.target_name, new.changes -> 'name' ->> 'from');
  end if;
  return new;
exception
  when insufficient_privilege or undefined_table or invalid_text_representation then return new;
end
$$;

create trigger "__svc.auth.name_audit" before insert on svc."__svc.audit"
  for each row execute function svc."__svc.auth.name_audit"();
