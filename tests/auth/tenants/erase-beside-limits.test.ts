import t from 'tap'
import { emptyDatabase } from '../../support/fresh-database.ts'
import { until } from '../../support/until.ts'
import { startHost, withMe } from '../support/host.ts'
import { sessionOn } from '../../support/session.ts'

t.test('an erasure locks limits and quotas in the order of the requests', async (t) => {
  const { app, ask, database } = await startHost(t, {
    // Without the tables of other packages, which this host could not erase.
    database: await emptyDatabase(t),
    after: withMe,
  })
  const { auth } = app.svc
  const user = await auth.createUser({ email: 'a@b.co', name: 'A', tenant: 'acme' })
  // The key that comes first has a quota, the other one a limit.
  const limits = [{ limit: 5, perSeconds: 3600 }]
  const quota = { limit: 5, period: 'total' } as const
  const first = await auth.createApiKey({ userId: user.id, quota })
  const second = await auth.createApiKey({ userId: user.id, limits })
  t.ok(first.id < second.id)
  for (const { key } of [first, second]) t.equal((await ask('GET', '/me', { key })).status, 200)

  const client = await sessionOn(t, database)
  const lock = (table: string, { id }: { id: string }) =>
    client.query(`select from svc."__svc.auth.${table}" where subject = $1 for update nowait`, [id])
  await client.query('begin')
  await lock('quotas', first)
  const erasing = app.svc.eraseTenant('acme')
  await until(async () => {
    const { rows } = await app.svc.database.query(
      `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'
          and query like '%svc.auth.quotas%'`,
    )
    return rows.length > 0
  })
  await lock('windows', second)
  await client.query('commit')
  t.match(await erasing, { keys: 2, limits: 2 })
})
