/** A hello-world server behind one guard, in a process of its own. */
import { hash } from 'node:crypto'
import Fastify, { type FastifyInstance } from 'fastify'
import type pg from 'pg'
import type { Plan, SvcAuthOptions } from '@svc/auth'
import { serve } from '../process.ts'

interface Settings {
  database: string
  /** The texts of the valid keys, for guards that keep them in memory. */
  keys: string[]
}

type Guard = (app: FastifyInstance, settings: Settings) => Promise<void>

/** What a guard imports is loaded only where it is measured: it would change the others' figures. */
const guards = {
  'no guard': async () => {},
  svcAuth: bySvcAuth,
  'svcAuth without usage': (app, settings) => bySvcAuth(app, settings, { usage: false }),
  'svcAuth with plans': (app, settings) => bySvcAuth(app, settings, planned({ maxKeys: 1e6 })),
  'svcAuth with limits by plans': (app, settings) =>
    bySvcAuth(app, settings, planned({ keyLimits: [{ limit: 1e6, perSeconds: 60 }] })),
  async 'svcAuth with request context'(app, settings) {
    await app.register((await import('@fastify/request-context')).default)
    await bySvcAuth(app, settings)
  },
  async 'bearer-auth'(app, { keys }) {
    await app.register((await import('@fastify/bearer-auth')).default, { keys: new Set(keys) })
  },
  async 'better-auth'(app, { database }) {
    const { guardByBetterAuth } = await import('./better-auth.ts')
    guardByBetterAuth(app, await poolOf(app, database))
  },
  /** What one writes without a cache: a hash and a prepared statement. */
  async 'a query per request'(app, { database }) {
    const pool = await poolOf(app, database)
    app.addHook('onRequest', async (request, reply) => {
      const key = request.headers.authorization?.slice('Bearer '.length) ?? ''
      const { rows } = await pool.query({
        name: 'key',
        text: `select user_id, scopes, expires_at, revoked_at
                 from svc."__svc.auth.api_keys" where key_hash = $1`,
        values: [hash('sha256', key, 'hex')],
      })
      if (rows.length === 0 || rows[0].revoked_at !== null) return reply.code(401).send()
    })
  },
} satisfies Record<string, Guard>

const planned = (plan: Plan): SvcAuthOptions => ({
  plans: { default: plan },
  planOf: async () => null,
})

export type GuardName = keyof typeof guards

async function bySvcAuth(
  app: FastifyInstance,
  { database }: Settings,
  options: SvcAuthOptions = {},
): Promise<void> {
  const [{ svcCore }, { svcAuth }] = await Promise.all([import('@svc/core'), import('@svc/auth')])
  await app.register(svcCore, { database })
  await app.register(svcAuth, options)
}

async function poolOf(app: FastifyInstance, connectionString: string): Promise<pg.Pool> {
  const { default: postgres } = await import('pg')
  const pool = new postgres.Pool({ connectionString, max: 10 })
  app.addHook('onClose', () => pool.end())
  return pool
}

let apps: FastifyInstance[] = []

const methods = {
  /** Called again, it starts a new server: no key is cached, but the code is compiled. */
  async start(name: GuardName, settings: Settings): Promise<number> {
    await methods.stop()
    return methods.startBeside(name, settings)
  },
  /** One more server in this process. */
  async startBeside(name: GuardName, settings: Settings): Promise<number> {
    // The connections of a contender are idle for minutes while others with many keys warm up.
    const app = Fastify({ keepAliveTimeout: 3_600_000 })
    apps.push(app)
    await guards[name](app, settings)
    app.get('/', () => ({ hello: 'world' }))
    return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
  },
  /** Has what was counted since the last time written, as it is every few seconds. */
  async writeUsage(): Promise<void> {
    const from = new Date(Date.now() - 1000).toISOString()
    for (const { svc } of apps) await svc.auth.getUsage({ from })
  },
  /**
   * Empties the young generation: garbage of what ran before would otherwise be counted with what
   * follows.
   */
  collectGarbage(): void {
    gc?.({ type: 'minor' })
  },
  /** The size of live objects, in MiB. */
  heapMegabytes(): number {
    gc?.()
    return process.memoryUsage().heapUsed / 2 ** 20
  },
  async stop(): Promise<void> {
    for (const app of apps) await app.close()
    apps = []
  },
}
export type GuardedMethods = typeof methods
serve(methods)
