/** Operations on the host as a whole: tenants, the audit, health, sessions. */
import { Type, type Static } from '@sinclair/typebox'
import type { AuditQuery } from '@svc/core'
import { findLiveProcesses, narrowedReach, reachOf, TenantFilter } from '@svc/core/internal'
import { listSessions } from '../tables/sessions.ts'
import type { TenantSummary } from '../contract/access.ts'
import type { Paging } from '../contract/lists.ts'
import { asIs, callsOf, Id, List, Nothing, pageOf, type By } from './call.ts'

const { reads, changes } = callsOf(null)

const SessionList = Type.Object(
  {
    limit: List.properties.limit,
    after: Type.Optional(Type.String({ format: 'uuid' })),
    tenant: TenantFilter,
  },
  { additionalProperties: false },
)

export const operatorCalls = {
  'tenants.list': reads('tenants:read', List, (input: Paging & { search?: string }, by) =>
    pageOf(
      input,
      (page) => tenants(page, by),
      ({ id: _, ...tenant }): TenantSummary => tenant,
    ),
  ),
  'audit.list': reads(
    'audit:read',
    List,
    async ({ tenant, ...query }: AuditQuery, { core, identity }) => {
      const reach = narrowedReach(identity.tenant, tenant)
      if (reach === undefined) return { items: [], next: null }
      const within = reach === null ? {} : { tenant: reach }
      return pageOf(query, (page) => core.svc.audit.list({ ...page, ...within }), asIs)
    },
  ),
  'health.get': reads('health:read', Nothing, (_: Nothing, { core }) => core.svc.health()),
  /** The processes that share the database. `days`: for how long the rows of each kind are kept, by the setting. */
  'health.processes': reads('health:read', Nothing, async (_: Nothing, { core }) => {
    const processes = await findLiveProcesses(core.requestDb)
    const days: Record<string, number> = {}
    for (const { declares } of processes) {
      for (const [setting, value] of Object.entries(declares.days)) {
        days[setting] = Math.max(days[setting] ?? 0, value)
      }
    }
    const items = processes.map(({ declares: { about }, ...process }) => ({
      ...process,
      isThis: process.id === core.lease.id,
      version: about?.version ?? null,
      node: about?.node ?? null,
      works: about?.works ?? null,
    }))
    return { items, days }
  }),
  'sessions.list': reads(
    'sessions:read',
    SessionList,
    async ({ tenant, ...input }: Static<typeof SessionList>, { core, identity }) => {
      const reach = narrowedReach(reachOf(identity), tenant)
      if (reach === undefined) return { items: [], next: null }
      return pageOf(
        input,
        (page) => listSessions(core.readDb, reach, page),
        ({
          rights: _,
          bootstrapSeal: _seal,
          linkKeyId: _maker,
          login: _login,
          look: _look,
          ...session
        }) => ({
          ...session,
          current: session.id === identity.sessionId,
        }),
      )
    },
  ),
  'sessions.end': changes(
    'sessions:write',
    Id,
    async ({ id }: Id, { sessions, identity, origin, ended }) => {
      await sessions.end(id, reachOf(identity), origin)
      ended()
      return {}
    },
  ),
}

/**
 * The tenants of both plugins, by name. Each plugin gives its first `limit` tenants, so that the
 * first `limit` of both together are complete.
 */
async function tenants(
  { limit, after, search }: { limit: number; after?: string; search?: string },
  { auth, webhooks }: By,
) {
  const page = { limit, after, search }
  const withKeys = (await auth?.listTenants(page)) ?? []
  const withWebhooks = (await webhooks?.listTenants(page)) ?? []
  const names = [...withKeys, ...withWebhooks].map(({ tenant }) => tenant)
  // Sorted as the tables sort, which compare bytes.
  const inOrder = [...new Set(names)].toSorted((a, b) => (a < b ? -1 : 1)).slice(0, limit)
  return inOrder.map((tenant) => ({
    id: tenant,
    users: 0,
    keys: 0,
    webhooks: 0,
    ...withKeys.find((one) => one.tenant === tenant),
    ...withWebhooks.find((one) => one.tenant === tenant),
    tenant,
  }))
}
