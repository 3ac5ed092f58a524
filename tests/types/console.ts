// What a host writes with the console compiles, and what it gets wrong does not.
import type { FastifyInstance } from 'fastify'
import defaultExport, {
  svcConsole,
  LinkUsed,
  type Access,
  type Can,
  type PayloadOf,
  type PortalLink,
  type Right,
  type SvcConsole,
  type SvcConsoleOptions,
} from '@svc/console'

export const options: SvcConsoleOptions = {
  path: '/console',
  access: async ({ headers }) =>
    headers['x-user'] ? { userId: String(headers['x-user']), tenant: 'acme', can: 'read' } : null,
  signInWithKey: false,
  frameAncestors: ['https://app.example'],
  returnUrl: '/settings/webhooks',
  origin: 'https://api.example',
  scopes: ['read'],
  theme: { name: 'Acme', logo: '/logo.svg', accent: '#3b5bdb' },
  redact: (payload: unknown, { event, tenant }: PayloadOf) => ({ payload, event, tenant }),
}

export const operator: Access = { tenant: null, can: ['webhooks:read'] satisfies Right[] }
export const all: Can = 'all'

export async function hostOf(app: FastifyInstance): Promise<string> {
  await app.register(svcConsole, options)
  await app.register(defaultExport)
  const link: PortalLink = { tenant: 'acme', can: ['keys:read'], expiresInSeconds: 60 }
  const operations: SvcConsole = app.svc.console
  return await operations.portalLink(link)
}

export const isUsed = (error: unknown): boolean => error instanceof LinkUsed

export async function mistakes(app: FastifyInstance): Promise<void> {
  // @ts-expect-error -- a forgotten tenant would make an operator
  const person: Access = { can: 'all' }
  // @ts-expect-error -- there is no such option
  await app.register(svcConsole, { paht: '/console' })
  // @ts-expect-error -- a link is a tenant's
  await app.svc.console.portalLink({ can: 'read', person })
}
