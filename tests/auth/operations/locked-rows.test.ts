import t, { type Test } from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { until } from '../../support/until.ts'
import { startHost, type Host, type MadeKey } from '../support/host.ts'
import { sessionOn } from '../../support/session.ts'

/** A session beside the host, in a transaction that has locked the row of a key. */
async function lockingSession(t: Test, { database }: Pick<Host, 'database'>, { id }: MadeKey) {
  const client = await sessionOn(t, database)
  await client.query('begin')
  await client.query('select from svc."__svc.auth.api_keys" where id = $1 for update', [id])
  /** The sessions of the host that wait for it. */
  const waiting = async (): Promise<number[]> => {
    const { rows } = await client.query(
      `select pid from pg_stat_activity
        where datname = current_database() and pg_backend_pid() = any(pg_blocking_pids(pid))`,
    )
    return rows.map(({ pid }) => pid)
  }
  return { client, waiting }
}

const busy = {
  status: 503,
  body: { code: 'SVC_UNAVAILABLE', message: 'the database is busy, try again' },
  headers: { 'retry-after': '1' },
}

t.test('a change that waits too long for a lock is a 503', async (t) => {
  const database = await freshDatabase(t)
  const options = '-c lock_timeout=100ms'
  const host = await startHost(t, {
    database,
    core: { database: { connectionString: database, max: 5, options } },
  })
  const key = await host.makeKey()
  const { client } = await lockingSession(t, host, key)
  const { auth } = host.app.svc

  t.match(await host.ask('PATCH', `/_auth/keys/${key.id}`, { body: { label: 'CI' } }), busy)
  const change = { id: key.id, label: 'CI' }
  const cause = { code: '55P03' }
  await t.rejects(auth.updateApiKey(change), { code: 'SVC_UNAVAILABLE', statusCode: 503, cause })
  const ofCaller = host.app.svc.transaction((db) => auth.updateApiKey(change, { db }))
  await t.rejects(ofCaller, cause, 'the caller gets the error of its transaction')

  await client.query('rollback')
  t.match(await auth.updateApiKey(change), { label: 'CI' })
})

t.test('a change whose statement took too long is a 503', async (t) => {
  const host = await startHost(t)
  const key = await host.makeKey()
  const { client, waiting } = await lockingSession(t, host, key)

  const answer = host.ask('DELETE', `/_auth/keys/${key.id}`)
  const [pid] = await until(waiting, (pids) => pids.length > 0)
  // A time-out of the server ends a statement in the same way.
  await client.query('select pg_cancel_backend($1::int)', [pid])
  t.match(await answer, busy)
})

t.test('a rotation that is ended in a deadlock runs again', async (t) => {
  const host = await startHost(t)

  /** Whether the rotation was ended, and not the other transaction. */
  async function rotateInDeadlock(): Promise<boolean> {
    const key = await host.makeKey()
    const { client, waiting } = await lockingSession(t, host, key)
    // It has locked the row of the user, and waits for that of the key.
    const rotation = host.ask('POST', `/_auth/keys/${key.id}/rotate`)
    await until(waiting, (pids) => pids.length > 0)
    const lockUser = 'select from svc."__svc.auth.users" where id = $1 for update'
    const wasEnded = await client.query(lockUser, [key.userId]).then(
      () => true,
      () => false,
    )
    await client.query('rollback')
    t.match(await rotation, { status: 201, body: { replaces: key.id } })
    return wasEnded
  }

  t.ok(await until(rotateInDeadlock), 'Postgres ends the one that has waited for a second first')
})
