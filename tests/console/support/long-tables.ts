/** Tables with many rows, of which one in a thousand is what is looked for. */
import pg from 'pg'

/** What the rare rows have. */
export const RARE = {
  webhookId: '0190a1b2-0000-7000-8000-000000000000',
  deliveryId: '0190a1b2-0000-7000-8000-000000000001',
  userId: '0190a1b2-0000-7000-8000-000000000002',
  tenant: 'acme',
  event: 'order.shipped',
  eventId: 'rare',
  source: 'rare-source',
  action: 'webhook.delete',
  prefix: 'svc_rare',
}

/** `n` of `rows` rows: when each came, its id, whether it is rare, and its tenant, one of fifty. */
const rowsOf = (rows: number): string => `
  generate_series(1, ${rows}) as n,
  lateral (select now() - n * interval '30 hours' / ${rows} as at, n % 1000 = 7 as rare) as row,
  lateral (
    select (left(svc."__svc.first_uuid"(at)::text, 24) || lpad(to_hex(n), 12, '0'))::uuid as id,
           case when rare then '${RARE.tenant}' else 'tenant-' || n % 50 end as tenant
  ) as made`

const TABLES = {
  '__svc.webhooks.delivery_log': `
    (id, webhook_id, event, event_id, delivery_id, attempt, status, status_code, tenant, attempted_at)
    select id, case when rare then '${RARE.webhookId}'::uuid else gen_random_uuid() end,
           case when rare then '${RARE.event}' else 'order.created' end,
           tenant || E'\\x1f' || case when rare then '${RARE.eventId}' else 'id-' || n end,
           case when rare then '${RARE.deliveryId}'::uuid else gen_random_uuid() end, 1,
           case when rare then 'dead' else 'delivered' end,
           case when rare then 503 else 200 end, tenant, at`,
  '__svc.events': `
    (name, id, payload, published_at, tenant)
    select case when rare then '${RARE.event}' else 'order.created' end,
           tenant || E'\\x1fid-' || n, '{"total":' || n || '}', at, tenant`,
  '__svc.webhooks.inbound_log': `
    (id, source, tenant, outcome, bytes, duration_ms, verified)
    select id, case when rare then '${RARE.source}' else 'shop' end, tenant,
           case when rare then 'refused' else 'accepted' end, 100, 3, true`,
  '__svc.audit': `
    (id, tenant, actor_kind, actor_key_id, actor_user_id, action, target_kind, target_id)
    select id, tenant, case when rare then 'bootstrap' else 'key' end, gen_random_uuid(),
           case when rare then '${RARE.userId}' else gen_random_uuid()::text end,
           case when rare then '${RARE.action}' else 'key.update' end,
           case when rare then 'webhook' else 'key' end,
           case when rare then '${RARE.webhookId}' else gen_random_uuid()::text end`,
  '__svc.auth.users': `
    (id, name, role, tenant, email)
    select case when n = 7 then '${RARE.userId}'::uuid else id end,
           'User', 'user', tenant, 'user-' || n || '@example.com'`,
  '__svc.auth.api_keys': `
    (id, user_id, key_hash, key_prefix, scopes, tenant, revoked_at, enabled, last_used_at)
    select id, case when rare then '${RARE.userId}'::uuid else id end, encode(sha256(n::text::bytea), 'hex'),
           case when rare then '${RARE.prefix}' else 'svc_' || substr(md5(n::text), 1, 4) end,
           array['read'], tenant, case when rare and n % 2000 = 7 then now() end,
           not (rare and n % 2000 <> 7), case when not rare then now() + interval '1 hour' end`,
  '__svc.webhooks.registrations': `
    (id, url, events, secret, tenant)
    select case when n = 1 then '${RARE.webhookId}'::uuid else id end,
           'https://example.com', array['order.created'], 'whsec_', tenant`,
}

export async function fillTables(database: string, rows: number): Promise<void> {
  const db = new pg.Client({ connectionString: database })
  await db.connect()
  try {
    for (const [table, columns] of Object.entries(TABLES)) {
      await db.query(`insert into svc."${table}" ${columns} from ${rowsOf(rows)}`)
      await db.query(`vacuum analyze svc."${table}"`)
    }
  } finally {
    await db.end()
  }
}
