create index concurrently if not exists "__svc.audit_action_id_idx"
  on svc."__svc.audit" (action, id desc);
