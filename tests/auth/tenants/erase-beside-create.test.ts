import t from 'tap'
import { emptyDatabase } from '../../support/fresh-database.ts'
import { until } from '../../support/until.ts'
import { startHost, withMe } from '../support/host.ts'

t.test('a key that is created while its tenant is erased is erased with it', async (t) => {
  const { app, ask } = await startHost(t, {
    // Without the tables of other packages, which this host could not erase.
    database: await emptyDatabase(t),
    after: withMe,
  })
  const user = await app.svc.auth.createUser({ email: 'a@b.co', name: 'A', tenant: 'acme' })
  let erasing: Promise<Record<string, number>> | undefined
  const made = await app.svc.transaction(async (db) => {
    const key = await app.svc.auth.createApiKey({ userId: user.id }, { db })
    erasing = app.svc.eraseTenant('acme')
    // The keys that it sees are gone: it waits for the row of the user.
    await until(async () => {
      const { rows } = await app.svc.database.query(
        `select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'
            and query like '%svc.auth.users%'`,
      )
      return rows.length > 0
    })
    return key
  })
  t.match(await erasing, { users: 1, keys: 1 })
  const { rows } = await app.svc.database.query('select from svc."__svc.auth.api_keys"')
  t.equal(rows.length, 0)
  await until(async () => (await ask('GET', '/me', { key: made.key })).status === 401)
})
