/** Links of the portal: each can be used once. */
import { withOwnAccess } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import type { ConsoleParts } from '../console-parts.ts'
import { LinkUsed } from '../errors.ts'
import { sendSessionCookie } from './send-cookie.ts'

const config = withOwnAccess({})

export function portalRoutes(
  app: FastifyInstance,
  { base, sessions, settings }: ConsoleParts,
): void {
  const isEmbedded = settings.frameAncestors.length > 0
  const schema: object = { hide: true }
  // No HEAD: a program that checks a link before a person opens it must not use it up.
  app.get<{ Params: { code: string } }>(
    '/portal/:code',
    { config, schema, exposeHeadRoute: false },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      try {
        const begun = await sessions.follow(request.params.code, request)
        sendSessionCookie(request, reply, begun, { base, isEmbedded })
        return await reply.redirect(`${base}/`, 303)
      } catch (error) {
        if (!(error instanceof LinkUsed)) throw error
        // The page shows what to do.
        return await reply.redirect(`${base}/?link=used`, 303)
      }
    },
  )
}
