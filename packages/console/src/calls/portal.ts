import { Type } from '@sinclair/typebox'
import { insertAudit } from '@svc/core/internal'
import type { Identity } from '../access/identity.ts'
import { checkedLink } from '../access/portal-links.ts'
import type { Right } from '../contract.ts'
import { Forbidden } from '../errors.ts'
import { PORTAL_RIGHTS, TENANT_RIGHTS } from '../rights.ts'
import { Nothing, type CallsOf } from './call.ts'

const Link = Type.Object(
  {
    tenant: Type.String(),
    can: Type.Optional(Type.Array(Type.String(), { maxItems: 50 })),
    userId: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    expiresInSeconds: Type.Optional(Type.Integer()),
  },
  { additionalProperties: false },
)

export const portalCalls: CallsOf<'portal'> = {
  'portal.rights': {
    right: 'tenants:write',
    changes: false,
    needs: null,
    input: Nothing,
    run: async (_, { identity }) => ({
      items: givenBy(identity).map((name) => ({
        name,
        usual: PORTAL_RIGHTS.includes(name),
      })),
    }),
  },
  'portal.link': {
    right: 'tenants:write',
    changes: true,
    needs: null,
    input: Link,
    async run(input, { core, identity, origin, makeLink }) {
      const given = givenBy(identity)
      const can = input.can ?? PORTAL_RIGHTS.filter((right) => given.includes(right))
      const link = checkedLink({ ...input, can })
      // A session gives no more than it has itself.
      const tooMuch = link.rights.find((right) => !given.includes(right))
      if (tooMuch !== undefined) throw new Forbidden(tooMuch)
      const { tenant, rights, expiresInSeconds } = link
      return await core.within(undefined, async (db) => {
        const text = await makeLink(db, link)
        const changes = {
          can: { from: null, to: rights },
          expiresInSeconds: { from: null, to: expiresInSeconds },
        }
        const target = { kind: 'tenant', id: tenant } as const
        await insertAudit(db, origin, [{ action: 'portal.link', tenant, target, changes }])
        const expiresAt = new Date(Date.now() + expiresInSeconds * 1000).toISOString()
        return { link: text, expiresAt }
      })
    },
  },
}

/** A portal session makes keys without restrictions. A link of a restricted key gives no right to do so. */
const givenBy = ({ rights, isRestricted }: Identity): Right[] =>
  TENANT_RIGHTS.filter(
    (right) => rights.includes(right) && !(isRestricted && MAKING_KEYS.includes(right)),
  )

const MAKING_KEYS: readonly Right[] = ['keys:write', 'users:write']
