/** The API that the page calls. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { withOwnAccess } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import type { Identity } from '../access/identity.ts'
import { perform } from '../calls/perform.ts'
import type { ConsoleParts } from '../console-parts.ts'
import { NotSignedIn, UnknownOperation } from '../errors.ts'
import { assertJson, assertMayRead } from '../access/sender.ts'
import { takesGzip } from './page.ts'

const config = withOwnAccess({})

const gzipped = promisify(gzip)
/** A shorter answer fits into one packet. */
const SHORT = 1400

/** Whether it is the same person, who may do the same. */
const isSame = (one: Identity, other: Identity): boolean =>
  one.sessionId === other.sessionId &&
  one.tenant === other.tenant &&
  one.userId === other.userId &&
  String(one.rights) === String(other.rights)

export function apiRoutes(api: FastifyInstance, parts: ConsoleParts): void {
  const { origin } = parts.settings

  api.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' || payload.length < SHORT || !takesGzip(request)) return payload
    const vary = [reply.getHeader('vary') ?? [], 'accept-encoding'].flat().join(', ')
    reply.header('content-encoding', 'gzip').header('vary', vary)
    reply.removeHeader('content-length')
    return await gzipped(payload)
  })

  // A HEAD would never end.
  api.get('/live', { config, exposeHeadRoute: false }, async (request, reply) => {
    assertMayRead(request, origin)
    const identity = await parts.identityOf(request)
    if (identity === null) throw new NotSignedIn()
    const stream = parts.live.open(identity, async () => {
      const now = await parts.identityOf(request)
      return now !== null && isSame(now, identity)
    })
    request.raw.once('close', () => stream.body.destroy())
    return reply.type('text/event-stream').header('x-accel-buffering', 'no').send(stream.body)
  })

  api.post<{ Params: { operation: string } }>('/:operation', { config }, async (request) => {
    assertJson(request)
    return await perform(parts, request.params.operation, request)
  })

  const unknown = async (request: { params: unknown }): Promise<never> => {
    throw new UnknownOperation(String((request.params as { '*'?: string })['*']).slice(0, 60))
  }
  api.get('/*', { config }, unknown)
  api.post('/*', { config }, unknown)
}
