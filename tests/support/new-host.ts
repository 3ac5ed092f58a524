import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { Test } from 'tap'

/** A host that is closed when the test ends. */
export function newHost(
  t: Pick<Test, 'teardown'>,
  options: FastifyServerOptions = {},
): FastifyInstance {
  // A boot takes long on a busy machine.
  const app = Fastify({ pluginTimeout: 60_000, ...options })
  t.teardown(() => app.close())
  return app
}
