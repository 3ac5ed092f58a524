/** Signing in and out. */
import { Type } from '@sinclair/typebox'
import { reachOf, withOwnAccess } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import { clearCookies, cookieOf } from '../access/cookie.ts'
import { isAdmin, type Identity } from '../access/identity.ts'
import { mayProbePayloads } from '../access/payload-access.ts'
import { consoleOrigin } from '../access/sessions.ts'
import type { ConsoleParts } from '../console-parts.ts'
import type { Session } from '../contract/session.ts'
import { assertMayChange, assertMayRead } from '../access/sender.ts'
import { sendSessionCookie } from './send-cookie.ts'

const config = withOwnAccess({})

const Body = Type.Object(
  { key: Type.String({ minLength: 1, maxLength: 1000 }) },
  { additionalProperties: false },
)

export function sessionRoutes(api: FastifyInstance, parts: ConsoleParts): void {
  const { base, settings, sessions, identityOf, features } = parts
  const { origin } = settings

  api.get('/session', { config }, async (request) => {
    assertMayRead(request, origin)
    return shown(await identityOf(request))
  })

  api.post<{ Body: { key: string } }>(
    '/session',
    { config, schema: { body: Body } },
    async (request, reply) => {
      assertMayChange(request, origin)
      const begun = await sessions.signIn(request.body.key, request)
      sendSessionCookie(request, reply, begun, { base, isEmbedded: false })
      return shown(await sessions.identify(request, begun.token))
    },
  )

  api.post('/session/end', { config }, async (request, reply) => {
    assertMayChange(request, origin)
    const identity = await identityOf(request)
    reply.header('set-cookie', clearCookies(cookieOf(request, base)))
    const sessionId = identity?.sessionId ?? null
    if (identity === null || sessionId === null) return shown(identity)
    await sessions.end(sessionId, reachOf(identity), consoleOrigin(identity, request))
    parts.live.recheck()
    // The host's own login, where it has one, goes on.
    return shown(await sessions.identify(request, undefined))
  })

  function shown(identity: Identity | null): Session {
    const { theme, signInWithKey, returnUrl } = settings
    if (identity === null) {
      const signIn = signInWithKey && features().auth ? 'key' : 'host'
      return { signedIn: false, signIn, returnUrl, theme }
    }
    const { via, userId, keyId, tenant, expiresAt } = identity
    const who = { via, userId, keyId, tenant, operator: tenant === null, expiresAt }
    const can = parts.rightsOf(identity)
    return {
      signedIn: true,
      ...who,
      can,
      feed: can.includes('events:read') ? parts.core.feed.path : null,
      searchesPayloads: mayProbePayloads(identity, parts.masks),
      isAdmin: isAdmin(identity),
      features: features(),
      theme,
      ...identity.look,
    }
  }
}
