import { Type, type Static } from '@sinclair/typebox'
import { insertAudit, narrowedReach, reachOf, TenantFilter } from '@svc/core/internal'
import type { Identity } from '../access/identity.ts'
import { checkedLink, shownLink } from '../access/portal-links.ts'
import { Forbidden } from '../errors.ts'
import { PORTAL_RIGHTS, rightsOfLinksBy, type Right } from '../rights.ts'
import { listPortalCodes } from '../tables/portal-codes.ts'
import { callsOf, Id, List, Nothing, pageOf } from './call.ts'

const { reads, changes } = callsOf(null)

const Link = Type.Object(
  {
    tenant: Type.String(),
    can: Type.Optional(Type.Array(Type.String(), { maxItems: 50 })),
    userId: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    expiresInSeconds: Type.Optional(Type.Integer()),
    embed: Type.Optional(Type.Boolean()),
    colorScheme: Type.Optional(
      Type.Union([Type.Literal('light'), Type.Literal('dark'), Type.Literal('auto')]),
    ),
  },
  { additionalProperties: false },
)

const LinkList = Type.Object(
  {
    limit: List.properties.limit,
    after: Type.Optional(Type.String({ format: 'uuid' })),
    tenant: TenantFilter,
  },
  { additionalProperties: false },
)

export const portalCalls = {
  /** Which rights a link may give, and which it gives without `can`. */
  'portal.rights': reads('tenants:write', Nothing, async (_: Nothing, { identity }) => ({
    items: givenBy(identity).map((name) => ({
      name,
      usual: PORTAL_RIGHTS.includes(name),
    })),
  })),
  /** `link`: a URL where the host has configured its origin, else a path. It is shown once. */
  'portal.link': changes(
    'tenants:write',
    Link,
    async (input: Static<typeof Link>, { core, identity, origin, links }) => {
      const given = givenBy(identity)
      const can = input.can ?? PORTAL_RIGHTS.filter((right) => given.includes(right))
      const link = checkedLink({ ...input, can })
      // A session gives no more than it has itself.
      const tooMuch = link.rights.find((right) => !given.includes(right))
      if (tooMuch !== undefined) throw new Forbidden(tooMuch)
      const { tenant, rights, expiresInSeconds } = link
      const { via, keyId, keyExpiresAt: expiresAt } = identity
      const by = { keyId, isBootstrapKey: via === 'key' && keyId === null, expiresAt }
      return await core.within(undefined, async (db) => {
        const made = await links.make(db, link, by)
        const changes = {
          link: { from: null, to: made.id },
          can: { from: null, to: rights },
          expiresInSeconds: { from: null, to: expiresInSeconds },
        }
        const target = { kind: 'tenant', id: tenant } as const
        await insertAudit(db, origin, [{ action: 'portal.link', tenant, target, changes }])
        return { id: made.id, link: made.link, expiresAt: made.expiresAt }
      })
    },
  ),
  /** Links that can still be used. */
  'portal.links': reads(
    'tenants:write',
    LinkList,
    async ({ tenant, ...input }: Static<typeof LinkList>, { core, identity }) => {
      const reach = narrowedReach(reachOf(identity), tenant)
      if (reach === undefined) return { items: [], next: null }
      return pageOf(input, (page) => listPortalCodes(core.requestDb, reach, page), shownLink)
    },
  ),
  'portal.revoke': changes('tenants:write', Id, async ({ id }: Id, { identity, links, origin }) => {
    await links.revoke(id, reachOf(identity), origin)
    return {}
  }),
}

const givenBy = ({ rights, isRestricted }: Identity): Right[] =>
  rightsOfLinksBy(rights, isRestricted)
