// promise: Both plugins work whatever the default isolation level of the database is, and whatever parsers the host has set in `pg`
import t from 'tap'
import { LEVELS, setDefaultLevel } from '../support/database-level.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { startHost } from './support/host.ts'

const times = <T>(count: number, run: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => run(n)))

for (const level of LEVELS) {
  t.test(`two processes where the database's level is ${level}`, async (t) => {
    const database = await freshDatabase(t)
    await setDefaultLevel(database, level)
    const after = (host: { get: Function }) => void host.get('/me', async () => 'me')
    const auth = { importedKeys: { hash: (key: string) => `hash of ${key}` } }
    const hosts = await Promise.all([0, 1].map(() => startHost(t, { database, after, auth })))
    const [host] = hosts as [(typeof hosts)[number], (typeof hosts)[number]]
    const hostOf = (n: number) => hosts[n % 2]!

    const { key } = await host.makeKey({ limits: [{ limit: 10, perSeconds: 3600 }] })
    const answers = await times(60, (n) => hostOf(n).ask('GET', '/me', { key }))
    t.equal(answers.filter(({ status }) => status === 200).length, 10)
    t.equal(answers.filter(({ status }) => status === 429).length, 50)

    const quota = { limit: 20, period: 'month' } as const
    const counted = await host.makeKey({ quota })
    const used = await times(40, (n) => hostOf(n).ask('GET', '/me', { key: counted.key }))
    t.equal(used.filter(({ status }) => status === 200).length, 20)

    const { id, userId } = await host.makeKey()
    const changes = await times(20, (n) =>
      hostOf(n).ask('PATCH', `/_auth/keys/${id}`, { body: { metadata: { n: `${n}` } } }),
    )
    t.same([...new Set(changes.map(({ status }) => status))], [200])
    const made = await times(10, (n) =>
      hostOf(n).ask('POST', `/_auth/users/${userId}/keys`, { body: { scopes: [] } }),
    )
    t.same([...new Set(made.map(({ status }) => status))], [201])
    const foreign = await times(20, async (n) => ({ userId, hash: `hash of foreign-${n}` }))
    const imports = await times(3, (n) => hostOf(n).app.svc.auth.importApiKeys(foreign))
    t.equal(
      imports.reduce((sum, { imported }) => sum + imported, 0),
      20,
    )
    const firstUses = await times(80, (n) =>
      hostOf(n).ask('GET', '/me', { key: `foreign-${n >> 2}` }),
    )
    t.same([...new Set(firstUses.map(({ status }) => status))], [200])
    const gone = await times(4, (n) => hostOf(n).ask('DELETE', `/_auth/keys/${id}`))
    t.ok(
      gone.every(({ status }) => status < 500),
      gone.map(({ status }) => status).join(' '),
    )
  })
}
