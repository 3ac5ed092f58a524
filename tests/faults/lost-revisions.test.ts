/**
 * A crash loses commits that did not wait for the disk, and the server that comes back gives their numbers to others:
 * `pg_postmaster_start_time()` stays the same.
 */
import type pg from 'pg'
import t, { type Test } from 'tap'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { crashBy, sessionOn } from '../support/session.ts'
import { proxyPostgres } from '../support/postgres-proxy.ts'
import { startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { newHost } from '../support/new-host.ts'

async function startApp(t: Test, connectionString: string) {
  const app = newHost(t)
  await app.register(svcCore, {
    database: { connectionString, max: 4 },
    worker: { enabled: false },
  })
  await app.register(svcAuth, { usage: false })
  app.get('/', { config: { scopes: ['read'] } }, async () => 'ok')
  await app.ready()
  const status = async (key: string) => {
    const { statusCode } = await app.inject({ url: '/', headers: { 'x-api-key': key } })
    return statusCode
  }
  return { app, status }
}

t.test('a revocation is seen although it has the number of one that was lost', async (t) => {
  // Nothing is written to the disk by itself.
  const postgres = await startPostgres({ wal_writer_delay: '10s', wal_writer_flush_after: '1GB' })
  t.teardown(() => postgres.stop())
  const proxy = await proxyPostgres(t, postgres.url)
  const { app, status } = await startApp(t, proxy.url)
  const { auth } = app.svc
  const user = await auth.createUser({ email: 'ada@example.com', name: 'Ada' })
  const make = () => auth.createApiKey({ userId: user.id, scopes: ['read'] })
  const [first, second] = [await make(), await make()]
  const both = () => Promise.all([status(first.key), status(second.key)])
  await until(both, (all) => all.every((one) => one === 200))

  const client = await sessionOn(t, postgres.url)
  const revoke = (db: pg.Client, id: string) =>
    db.query('update svc."__svc.auth.api_keys" set revoked_at = now() where id = $1', [id])
  const started = `select pg_postmaster_start_time()::text as at`
  const before = (await client.query(started)).rows[0].at
  await client.query('set synchronous_commit = off')
  await revoke(client, first.id)
  await until(both, ([one]) => one === 401)
  proxy.cut()
  const next = await crashBy(client, t, postgres.url)
  t.equal((await next.query(started)).rows[0].at, before)
  const lost = await next.query(
    'select from svc."__svc.auth.api_keys" where id = $1 and revoked_at is null',
    [first.id],
  )
  t.equal(lost.rowCount, 1, 'the crash has lost the revocation')
  await revoke(next, second.id)
  proxy.mend()
  await until(both, ([one, two]) => one === 200 && two === 401)
  t.pass('the other revocation is seen')
})
