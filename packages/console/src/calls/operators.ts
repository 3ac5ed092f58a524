/** Operations on the host as a whole: tenants, the audit, health, sessions. */
import { Type } from '@sinclair/typebox'
import { narrowedReach, reachOf, TenantFilter } from '@svc/core/internal'
import { listSessions } from '../tables/sessions.ts'
import { asIs, Id, List, Nothing, pageOf, type By, type CallsOf } from './call.ts'

const SessionList = Type.Object(
  {
    limit: List.properties.limit,
    after: Type.Optional(Type.String({ format: 'uuid' })),
    tenant: TenantFilter,
  },
  { additionalProperties: false },
)

export const operatorCalls: CallsOf<'tenants' | 'audit' | 'health' | 'sessions'> = {
  'tenants.list': {
    right: 'tenants:read',
    changes: false,
    needs: null,
    input: List,
    run: (input, by) =>
      pageOf(
        input,
        (page) => tenants(page, by),
        ({ id: _, ...tenant }) => tenant,
      ),
  },
  'audit.list': {
    right: 'audit:read',
    changes: false,
    needs: null,
    input: List,
    async run({ tenant, ...query }, { core, identity }) {
      const reach = narrowedReach(identity.tenant, tenant)
      if (reach === undefined) return { items: [], next: null }
      const within = reach === null ? {} : { tenant: reach }
      return pageOf(query, (page) => core.svc.audit.list({ ...page, ...within }), asIs)
    },
  },
  'health.get': {
    right: 'health:read',
    changes: false,
    needs: null,
    input: Nothing,
    run: (_, { core }) => core.svc.health(),
  },
  'sessions.list': {
    right: 'sessions:read',
    changes: false,
    needs: null,
    input: SessionList,
    async run({ tenant, ...input }, { core, identity }) {
      const reach = narrowedReach(reachOf(identity), tenant)
      if (reach === undefined) return { items: [], next: null }
      return pageOf(
        input,
        (page) => listSessions(core.readDb, reach, page),
        ({ rights: _, bootstrapSeal: _seal, linkKeyId: _maker, login: _login, ...session }) => ({
          ...session,
          current: session.id === identity.sessionId,
        }),
      )
    },
  },
  'sessions.end': {
    right: 'sessions:write',
    changes: true,
    needs: null,
    input: Id,
    async run({ id }, { sessions, identity, origin, ended }) {
      await sessions.end(id, reachOf(identity), origin)
      ended()
      return {}
    },
  },
}

/**
 * The tenants of both plugins, by name. Each plugin gives its first `limit` tenants, so that the
 * first `limit` of both together are complete.
 */
async function tenants(
  { limit, after }: { limit: number; after?: string },
  { auth, webhooks }: By,
) {
  const page = { limit, ...(after !== undefined && { after }) }
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
