create index concurrently if not exists "__svc.audit_actor_kind_id_idx"
  on svc."__svc.audit" (actor_kind, id desc);
