/** A database that only reads, as a standby does. */
import t from 'tap'
import { emptyDatabase } from '../support/fresh-database.ts'
import { proxyPostgres } from '../support/postgres-proxy.ts'
import { startSvc, svc } from '../support/svc-command.ts'
import { sessionOn } from '../support/session.ts'

t.test('verbs that write say that the database only reads, and nothing else', async (t) => {
  const DATABASE_URL = await emptyDatabase(t)
  const admin = await sessionOn(t, DATABASE_URL)
  const { rows } = await admin.query('select current_database() as name')
  const setReadOnly = (is: 'on' | 'off') =>
    admin.query(`set default_transaction_read_only = off;
      alter database ${rows[0].name} set default_transaction_read_only = ${is}`)
  const refused = async (...args: string[]) => {
    const { exitCode, errors } = await svc(t, args, { DATABASE_URL })
    t.equal(exitCode, 3, args.join(' '))
    t.match(
      errors.join('\n'),
      /Postgres at \S+ takes no writes at the moment \(.*\): run it again when it does, or check DATABASE_URL/,
    )
    return errors
  }
  await setReadOnly('on')
  await refused('migrate')
  await setReadOnly('off')
  t.equal((await svc(t, ['migrate'], { DATABASE_URL })).exitCode, 0)
  await setReadOnly('on')
  for (const args of [
    ['migrate'],
    ['send', 'order.created'],
    ['create-key', '--email', 'ops@example.com', '--name', 'ops'],
  ]) {
    const errors = await refused(...args)
    t.notMatch(errors.join('\n'), /pg-boss error|shutdown step failed/)
  }
  t.equal((await svc(t, ['migrate', '--check'], { DATABASE_URL })).exitCode, 0, 'which only reads')
})

t.test('verbs wait while no host of a list takes writes, and say so', async (t) => {
  const proxy = await proxyPostgres(t, await emptyDatabase(t))
  const { host } = new URL(proxy.url)
  const DATABASE_URL = proxy.url.replace(host, `${host},${host}`)
  for (const args of [
    ['migrate', '--grant-to', 'pg_monitor'],
    ['migrate', '--check'],
    ['status'],
    ['doctor'],
    ['send', 'order.created'],
  ]) {
    proxy.cut()
    const waiting = startSvc(t, args, { DATABASE_URL })
    await waiting.says(
      /no host of the list .* takes writes; waiting .*: no host takes writes \(127/,
    )
    proxy.mend()
    const { exitCode, errors } = await waiting.ended
    // The servers of the tests have fsync off.
    const expected = args[0] === 'doctor' ? 1 : 0
    t.equal(exitCode, expected, `${args.join(' ')}: ${errors.join('\n')}`)
  }
})
