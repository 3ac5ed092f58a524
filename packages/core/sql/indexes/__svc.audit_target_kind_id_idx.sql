create index concurrently if not exists "__svc.audit_target_kind_id_idx"
  on svc."__svc.audit" (target_kind, id desc);
