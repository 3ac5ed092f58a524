/** The caller's identity in @fastify/request-context, for code that is not handed the request. */
import fastifyRequestContext from '@fastify/request-context'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Scope } from '../scopes.ts'
import type { Auth } from './keys/cached-key.ts'

declare module '@fastify/request-context' {
  interface RequestContextData {
    /** Owner of the key; `null` for the bootstrap key. */
    'auth.userId': string | null
    'auth.scopes': readonly Scope[]
    'auth.bootstrap': boolean
  }
}

export type Mirror = (request: FastifyRequest, auth: Auth) => void

/**
 * Opens the context before the guard where the host wants it and has not. It costs more than the
 * guard itself, so nobody pays for it who did not ask.
 */
export async function requestContextMirror(
  app: FastifyInstance,
  isWanted: boolean | undefined,
): Promise<Mirror | null> {
  const isThere = app.hasDecorator('requestContext')
  if (!(isWanted ?? isThere)) return null
  if (!isThere) await app.register(fastifyRequestContext)
  return (request, auth) => {
    const { requestContext } = request
    // A 404 of the root instance, where the host registered both plugins inside another one.
    if (requestContext === undefined) return
    requestContext.set('auth.userId', auth.userId)
    requestContext.set('auth.scopes', auth.scopes)
    requestContext.set('auth.bootstrap', auth.bootstrap)
  }
}
