import { hash } from 'node:crypto'
import pg from 'pg'
import type { GuardContender } from './contender.ts'

let pool: pg.Pool

/** What one writes who has no cache: a hash, a prepared statement, and nothing else. */
export const guardedByQuery: GuardContender = {
  async register(app, { database }) {
    pool = new pg.Pool({ connectionString: database, max: 10 })
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
  close: () => pool.end(),
}
