import { apiKey } from '@better-auth/api-key'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import type { FastifyInstance } from 'fastify'
import pg from 'pg'

/** Its defaults, except for the limit of ten requests a day for each key. */
const authOn = (database: pg.Pool) =>
  betterAuth({
    database,
    secret: 'only for the benchmark, only on loopback',
    baseURL: 'http://127.0.0.1',
    emailAndPassword: { enabled: true },
    telemetry: { enabled: false },
    plugins: [apiKey({ rateLimit: { enabled: false } })],
  })

export function guardByBetterAuth(app: FastifyInstance, pool: pg.Pool): void {
  const auth = authOn(pool)
  app.addHook('onRequest', async (request, reply) => {
    const key = request.headers.authorization?.slice('Bearer '.length) ?? ''
    const { valid } = await auth.api.verifyApiKey({ body: { key } })
    if (!valid) return reply.code(401).send()
  })
}

/** Makes its tables and some keys, and returns the texts of the keys. */
export async function makeBetterAuthKeys(database: string, count: number): Promise<string[]> {
  const pool = new pg.Pool({ connectionString: database, max: 4 })
  try {
    const auth = authOn(pool)
    const { runMigrations } = await getMigrations(auth.options)
    await runMigrations()
    const { user } = await auth.api.signUpEmail({
      body: { email: 'bench@example.com', name: 'Bench', password: 'correct horse battery' },
    })
    const keys: string[] = []
    for (let i = 0; i < count; i++) {
      keys.push((await auth.api.createApiKey({ body: { userId: user.id } })).key)
    }
    return keys
  } finally {
    await pool.end()
  }
}
