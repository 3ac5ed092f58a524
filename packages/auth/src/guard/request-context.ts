/** Writes the caller into @fastify/request-context, for code without access to the request. */
import fastifyRequestContext from '@fastify/request-context'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Scope } from '../scopes.ts'
import type { Auth } from './keys/key-cache.ts'

declare module '@fastify/request-context' {
  interface RequestContextData {
    /** Owner of the key; `null` for the bootstrap key. */
    'auth.userId': string | null
    'auth.scopes': readonly Scope[]
    'auth.bootstrap': boolean
    /** The tenant of the key; `null` for none. */
    'auth.tenant': string | null
  }
}

export type CopyToRequestContext = (request: FastifyRequest, auth: Auth) => void

/**
 * `null` where the host has not registered @fastify/request-context and `isWanted` is not set: the
 * copy costs more than the guard itself. Where `isWanted` is set and the plugin is missing, it is
 * registered here, before the guard.
 */
export async function createRequestContextCopy(
  app: FastifyInstance,
  isWanted: boolean | undefined,
): Promise<CopyToRequestContext | null> {
  const isRegistered = app.hasDecorator('requestContext')
  if (!(isWanted ?? isRegistered)) return null
  if (!isRegistered) await app.register(fastifyRequestContext)
  return (request, auth) => {
    const { requestContext } = request
    // Missing on a 404 of the root instance where the host registered both plugins in another one.
    if (requestContext === undefined) return
    requestContext.set('auth.userId', auth.userId)
    requestContext.set('auth.scopes', auth.scopes)
    requestContext.set('auth.bootstrap', auth.bootstrap)
    requestContext.set('auth.tenant', auth.tenant)
  }
}
