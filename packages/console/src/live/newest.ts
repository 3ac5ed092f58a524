/** Reads the newest rows of all that a page shows, and compares them with the last reading. */
import type { Core } from '@svc/core/internal'
import type {} from '@svc/auth'
import type {} from '@svc/webhooks'
import type { Hint } from '../contract/session.ts'

export interface Newest {
  deliveries: string | null
  inbound: string | null
  /** The newest changes, each with the kind of its target. */
  changes: { id: string; kind: string }[]
}

/**
 * How many of the newest changes are read. Where more than these come between two readings, the
 * kinds of the older ones are not reported.
 */
const CHANGES = 20

/**
 * Reads within a tenant, or within all, without what is hidden from who may not read keys. It reads one delivery, one inbound request and
 * `CHANGES` changes, each from the end of an index.
 */
export async function findNewest(
  { svc }: Core,
  { tenant, keyEvents }: { tenant: string | null; keyEvents: boolean },
): Promise<Newest> {
  const webhooks = (svc as Partial<typeof svc>).webhooks?.as({ tenant, keyEvents })
  const within = tenant === null ? {} : { tenant }
  const [attempts, requests, changes] = await Promise.all([
    webhooks?.listDeliveries({ limit: 1, payloads: false }),
    webhooks?.listInbound({ limit: 1, bodyBytes: 0 }),
    svc.audit.list({ ...within, limit: CHANGES }),
  ])
  return {
    deliveries: attempts?.[0]?.id ?? null,
    inbound: requests?.[0]?.id ?? null,
    changes: changes.map(({ id, target }) => ({ id, kind: target.kind })),
  }
}

const OF_KIND: Record<string, Hint['type']> = { webhook: 'webhooks', key: 'keys', user: 'users' }

export function changesBetween(before: Newest, now: Newest): Set<Hint['type']> {
  const types = new Set<Hint['type']>()
  if (before.deliveries !== now.deliveries) types.add('deliveries')
  if (before.inbound !== now.inbound) types.add('inbound')
  const known = new Set(before.changes.map(({ id }) => id))
  for (const { id, kind } of now.changes) {
    if (known.has(id)) continue
    types.add('audit')
    const type = OF_KIND[kind]
    if (type !== undefined) types.add(type)
  }
  return types
}
