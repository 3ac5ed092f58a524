import type { FastifyReply, FastifyRequest } from 'fastify'
import { cookieOf, setCookie } from '../access/cookie.ts'
import type { Begun } from '../access/sessions.ts'

/** `isEmbedded`: the page is shown in an iframe of another site. */
export function sendSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { token, session }: Begun,
  { base, isEmbedded }: { base: string; isEmbedded: boolean },
): void {
  const leftMs = Date.parse(session.expiresAt) - Date.now()
  const maxAgeSeconds = Math.max(0, Math.round(leftMs / 1000))
  reply.header(
    'set-cookie',
    setCookie({ ...cookieOf(request, base), token, maxAgeSeconds, isEmbedded }),
  )
}
