import { isUuid, uuidOf, uuidv7 } from '../ids.ts'
import type { Db } from '../postgres/transaction.ts'
import { withinReach, type Reach } from '../tenants/tenants.ts'
import {
  isTargetKind,
  type AuditChanges,
  type AuditEntry,
  type AuditQuery,
  type TargetKind,
} from './audit-entry.ts'
import type { AuditOrigin } from './audit-origin.ts'

export interface AuditRecord {
  tenant: string | null
  action: string
  target: { kind: TargetKind; id: string }
  changes: AuditChanges | null
}

export async function insertAudit(
  db: Db,
  { actor, requestId, ip }: AuditOrigin,
  records: readonly AuditRecord[],
): Promise<void> {
  if (records.length === 0) return
  const rows = records.map(({ target, ...record }) => ({
    ...record,
    id: uuidv7(),
    kind: target.kind,
    target: target.id,
  }))
  await db.query(
    `insert into svc."__svc.audit"
       (id, tenant, actor_kind, actor_key_id, actor_user_id, action, target_kind, target_id,
        changes, request_id, ip)
     select id, tenant, $2, $3, $4, action, kind, target, changes, $5, $6
       from jsonb_to_recordset($1) as record
         (id uuid, tenant text, action text, kind text, target text, changes jsonb)`,
    [JSON.stringify(rows), actor.kind, actor.keyId, actor.userId, requestId, ip],
  )
}

/** Newest first; all of them without a `limit`. */
export async function listAudit(
  db: Db,
  reach: Reach,
  { actor, target, action, since, until, after, limit }: Omit<AuditQuery, 'tenant'>,
): Promise<AuditEntry[]> {
  const isActorId = isUuid(actor)
  const isKind = isTargetKind(target)
  const { rows } = await db.query(
    `select id, ${TIME_OF_ID} as at, tenant,
            actor_kind as "actorKind", actor_key_id as "keyId", actor_user_id as "userId", action,
            target_kind as "targetKind", target_id as "targetId", changes::text,
            actor_name as "actorName", target_name as "targetName",
            request_id as "requestId", ip
       from svc."__svc.audit"
      where ${withinReach('tenant', '$1')}
        and ($2::uuid is null or actor_key_id = $2 or actor_user_id = $2::text)
        and ($3::text is null or actor_kind = $3 or actor_user_id = $3)
        and ($4::text is null or target_id = $4)
        and ($5::text is null or target_kind = $5)
        and ($6::text is null or action = $6)
        and ($7::timestamptz is null or id >= svc."__svc.first_uuid"($7))
        and ($8::timestamptz is null or id < svc."__svc.first_uuid"($8))
        and ($9::uuid is null or id < $9)
      order by id desc
      limit $10`,
    [
      reach,
      isActorId ? actor : null,
      isActorId ? null : (actor ?? null),
      isKind ? null : (uuidOf(target) ?? target ?? null),
      isKind ? target : null,
      action ?? null,
      since ?? null,
      until ?? null,
      after ?? null,
      limit ?? null,
    ],
  )
  return rows.map(entryOf)
}

interface Row extends Pick<AuditEntry, 'id' | 'at' | 'tenant' | 'action' | 'requestId' | 'ip'> {
  actorKind: AuditEntry['actor']['kind']
  keyId: string | null
  userId: string | null
  actorName: string | null
  targetName: string | null
  targetKind: string
  targetId: string
  changes: string | null
}

const entryOf = (row: Row): AuditEntry => ({
  id: row.id,
  at: row.at,
  tenant: row.tenant,
  actor: { kind: row.actorKind, keyId: row.keyId, userId: row.userId, name: row.actorName },
  action: row.action,
  target: { kind: row.targetKind, id: row.targetId, name: row.targetName },
  changes: row.changes === null ? null : JSON.parse(row.changes),
  requestId: row.requestId,
  ip: row.ip,
})

/** The first 48 bits of a UUIDv7 are its time (RFC 9562, section 5.7), in milliseconds since 1970. */
const TIME_OF_ID = `to_char(
  to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
    at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const PORTION = 5000

export async function sweepAudit(db: Db, days: number, stopping?: AbortSignal): Promise<void> {
  for (;;) {
    const { rowCount } = await db.query(
      `delete from svc."__svc.audit"
        where id in (select id from svc."__svc.audit"
                      where id < svc."__svc.first_uuid"(now() - make_interval(days => $1))
                      order by id limit $2)`,
      [days, PORTION],
    )
    if ((rowCount ?? 0) < PORTION || stopping?.aborted) return
  }
}

/** Deletes the `changes` and the names of a tenant's rows, in portions. The rows are kept. */
export async function eraseChanges(db: Db, tenant: string): Promise<void> {
  for (let before: string | null = null; ;) {
    const { rows }: Awaited<ReturnType<Db['query']>> = await db.query(
      `with portion as materialized (
         select id from svc."__svc.audit"
          where tenant = $1 and ($2::uuid is null or id < $2) order by id desc limit $3
       ), erased as (
         update svc."__svc.audit" set changes = null, actor_name = null, target_name = null
          where id = any(array(select id from portion))
            and (changes is not null or actor_name is not null or target_name is not null)
       )
       select count(*)::int as seen, (select id from portion order by id limit 1) as last
         from portion`,
      [tenant, before, PORTION],
    )
    const { seen, last } = rows[0] as { seen: number; last: string }
    if (seen < PORTION) return
    before = last
  }
}

/** The ids of the targets of one kind that were changed in a tenant, deleted ones included. */
export async function findAuditedTargets(db: Db, tenant: string, kind: string): Promise<string[]> {
  const { rows } = await db.query(
    `select distinct target_id as id from svc."__svc.audit"
      where tenant = $1 and target_kind = $2`,
    [tenant, kind],
  )
  return rows.map(({ id }: { id: string }) => id)
}
