-- What the actor and the target were called when the change was made. Each package names what its tables
-- hold, by a trigger; eraseTenant clears the names with the changes.
alter table svc."__svc.audit"
  add column actor_name text,
  add column target_name text;
