/** What is published about the age of keys, by the tasks of a host and as the tests call them. */
import { useCore, type Core } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import { createOperationContext } from '../../../packages/auth/src/operations/context.ts'
import { resolveAuthOptions } from '../../../packages/auth/src/options.ts'
import { createScopeNames } from '../../../packages/auth/src/scopes.ts'
import { startHost, type HostOptions } from './host.ts'

export interface Seen {
  name: string
  payload: Record<string, unknown>
}

/** The events that the table has, whether or not anybody has handled them. */
export async function published(app: FastifyInstance, ...names: string[]): Promise<Seen[]> {
  const { rows } = await app.svc.database.query(
    `select name, payload from svc."__svc.events" where name = any($1) order by published_at, id`,
    [names.map((name) => `svc.key.${name}`)],
  )
  return rows.map(({ name, payload }) => ({ name, payload: JSON.parse(payload) }))
}

/** Sets the end of a key back, and that it was made the day before. */
export const expire = (app: FastifyInstance, id: string, ago: string) =>
  app.svc.database.query(
    `update svc."__svc.auth.api_keys" set expires_at = now() - $2::interval,
            created_at = least(created_at, now() - $2::interval - interval '1 day')
      where id = $1`,
    [id, ago],
  )

/** A host, and the context of its operations as the periodic tasks have it. */
export async function hostWithContext(
  t: Parameters<typeof startHost>[0],
  options: HostOptions = {},
) {
  const host = await startHost(t, options)
  const core: Core = await useCore(host.app)
  const settings = resolveAuthOptions({})
  const authentication = { lastUsed: { flush: async () => {} }, log: host.app.log } as never
  const names = createScopeNames([], {})
  return { ...host, context: createOperationContext(core, authentication, settings, names) }
}
