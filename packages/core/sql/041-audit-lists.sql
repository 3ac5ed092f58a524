-- For lists of the audit by what was done, to what, and by whom: a kind may be rare among many.
create index on svc."__svc.audit" (action, id desc);
create index on svc."__svc.audit" (target_kind, id desc);
create index on svc."__svc.audit" (actor_kind, id desc);
