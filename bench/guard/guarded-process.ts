/** A hello-world server behind one guard, in a process of its own. */
import Fastify, { type FastifyInstance } from 'fastify'
import { serve } from '../processes/serve.ts'
import { usageOfThisProcess } from '../processes/usage.ts'
import type { GuardContender, GuardSettings } from './contenders/contender.ts'

/** Loaded only where it is measured: what one brings along must not weigh on the others. */
const contenders = {
  'no guard': async () => ({ register: async () => {} }),
  svcAuth: async () => (await import('./contenders/svc-auth.ts')).guardedBySvcAuth,
  'svcAuth with request context': async () =>
    (await import('./contenders/svc-auth.ts')).guardedWithRequestContext,
  'svcAuth with rate limit': async () =>
    (await import('./contenders/svc-auth.ts')).guardedWithRateLimit,
  'bearer-auth': async () => (await import('./contenders/bearer-auth.ts')).guardedByBearerAuth,
  'better-auth': async () => (await import('./contenders/better-auth.ts')).guardedByBetterAuth,
  'a query per request': async () =>
    (await import('./contenders/query-per-request.ts')).guardedByQuery,
} satisfies Record<string, () => Promise<GuardContender>>

export type GuardName = keyof typeof contenders

let app: FastifyInstance | undefined
let contender: GuardContender | undefined

const methods = {
  /** May be called again: the same process with everything forgotten, but compiled. */
  async start(name: GuardName, settings: GuardSettings): Promise<number> {
    await methods.stop()
    app = Fastify()
    contender = await contenders[name]()
    await contender.register(app, settings)
    app.get('/', () => ({ hello: 'world' }))
    await app.listen({ port: 0, host: '127.0.0.1' })
    const address = app.server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  },
  usage: usageOfThisProcess,
  async stop(): Promise<void> {
    await app?.close()
    await contender?.close?.()
    app = contender = undefined
  },
}
export type GuardedMethods = typeof methods
serve(methods)
