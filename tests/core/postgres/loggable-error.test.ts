import t from 'tap'
import { loggable } from '../../../packages/core/src/postgres/loggable-error.ts'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'
import { sessionOn } from '../../support/session.ts'

t.test('the log of a lost connection holds nothing of the client', async (t) => {
  const host = await startHost(t)
  const client = await sessionOn(t, host.database)
  const lost = () => host.log.filter(({ msg }) => msg === 'connection to Postgres lost')
  await until(async () => {
    // The pool keeps no connection of its own accord.
    await host.app.svc.database.query('select 1').catch(() => {})
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    )
    return lost().length > 0
  })
  for (const { err } of lost()) {
    t.match(err, { type: 'Error', message: /terminat/ })
    t.notOk(Object.keys(err as object).includes('client'))
  }
  t.notMatch(JSON.stringify(host.log), 'secretKey')
})

t.test('the log of a refusal has only name, message and code', async (t) => {
  const { app } = await startHost(t)
  const error = await app.svc.database
    .query(`select 'secret'::int`)
    .catch((refusal: unknown) => refusal)
  const told = loggable(error) as Error & { code: string }
  t.strictSame(Object.keys(told), ['name', 'code'])
  t.equal(told.code, '22P02')
})

t.test('an error that is not of Postgres is left as it is', async (t) => {
  const error = Object.assign(new Error('a bug'), { detail: 1 })
  t.equal(loggable(error), error)
  t.equal(loggable('text'), 'text')
})
