/** Answers of Postgres that the host's pool has read in its own way, or that cannot be read. */
import pg from 'pg'
import t, { type Test } from 'tap'
import { Allowances } from '../../../packages/auth/src/limits/allowances.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { startHost, withMe } from '../support/host.ts'

const JSON_OID = 114

/** A pool of a host that takes JSON as it is written, without the rounding of numbers. */
function poolWithTextOfJson(t: Test, connectionString: string): pg.Pool {
  const getTypeParser = (oid: number, format: 'text') =>
    oid === JSON_OID ? (text: string) => text : pg.types.getTypeParser(oid, format)
  const types = { getTypeParser } as unknown as pg.CustomTypesConfig
  const pool = new pg.Pool({ connectionString, max: 5, types })
  t.teardown(() => pool.end())
  return pool
}

t.test("limits and quotas hold whatever the host's pool makes of JSON", async (t) => {
  const connectionString = await freshDatabase(t)
  const pool = poolWithTextOfJson(t, connectionString)
  t.same((await pool.query(`select '[1]'::json as json`)).rows, [{ json: '[1]' }])
  const { ask, makeKey } = await startHost(t, {
    database: connectionString,
    core: { database: pool },
    after: withMe,
  })
  const statuses = async (key: string) => {
    const seen: number[] = []
    for (let n = 0; n < 4; n++) seen.push((await ask('GET', '/me', { key })).status)
    return seen
  }
  const limited = await makeKey({ limits: [{ limit: 3, perSeconds: 3600 }] })
  t.same(await statuses(limited.key), [200, 200, 200, 429])
  const paid = await makeKey({ quota: { limit: 3, period: 'total' } })
  t.same(await statuses(paid.key), [200, 200, 200, 429])
})

/** Allowances whose statements get this answer. */
function allowancesThat(query: () => Promise<unknown>) {
  const logged: object[] = []
  const log = { warn: (details: object) => void logged.push(details), info: () => {} }
  const db = { query } as never
  const allowances = new Allowances({ db, tenantLimits: [], tenantPeriods: [], log })
  const limits = [{ limit: 3, perSeconds: 60 }]
  const list = allowances.limitsOf({ allowancesOf: 'a', tenant: null, limits, quota: null })!
  return { allowances, list, logged }
}

const UNREADABLE: [what: string, query: () => Promise<unknown>, reason: RegExp][] = [
  [
    'has no answer for a limit',
    async () => ({ rows: [{ answer: '{"passed":[],"places":[]}' }] }),
    /another number of limits/,
  ],
  ['is no JSON', async () => ({ rows: [{ answer: 'n/a' }] }), /JSON/],
  ['is no row', async () => ({ rows: [] }), /undefined/],
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- a pool of the host's may
  ['is a rejection without an error', () => Promise.reject(undefined), /undefined/],
]
for (const [what, query, reason] of UNREADABLE) {
  t.test(`a request does not wait for ever where the answer ${what}`, async (t) => {
    const { allowances, list, logged } = allowancesThat(query)
    t.equal(await allowances.check(list, 1), 'unavailable')
    t.match(logged, [{ reason }])
    await allowances.stop()
  })
}
