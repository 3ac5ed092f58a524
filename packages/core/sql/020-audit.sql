-- Who changed what. A row is written in the transaction of the change, and never changed.
create table svc."__svc.audit" (
  -- A UUIDv7: its time is that of the row.
  id uuid primary key,
  -- Of what was changed; null for what is the operator's.
  tenant text collate "C",
  actor_kind text collate "C" not null,
  actor_key_id uuid,
  actor_user_id uuid,
  action text collate "C" not null,
  target_kind text collate "C" not null,
  target_id text collate "C" not null,
  -- { field: { from, to } }, where a secret is "***"; null once its tenant was erased.
  changes jsonb,
  request_id text,
  ip text
);

create index on svc."__svc.audit" (tenant, id desc);
create index on svc."__svc.audit" (target_id, id desc);
create index on svc."__svc.audit" (actor_key_id, id desc) where actor_key_id is not null;
create index on svc."__svc.audit" (actor_user_id, id desc) where actor_user_id is not null;
