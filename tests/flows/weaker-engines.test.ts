/**
 * Postgres without what weaker engines lack: docs/operate/engines.md says which. It shows what a host says and what
 * still holds there.
 */
import { randomBytes } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { svcCore } from '@svc/core'
import Fastify from 'fastify'
import pg from 'pg'
import t, { type Test } from 'tap'
import { emptyDatabase, freshDatabase } from '../support/fresh-database.ts'
import { until } from '../support/until.ts'
import { listening } from '../support/listening.ts'
import { newHost } from '../support/new-host.ts'

/** A server that takes LISTEN for a mistake in the syntax. */
async function withoutListen(t: Test, database: string): Promise<string> {
  const target = new URL(database)
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    upstream.pipe(client)
    client.on('data', (bytes) => {
      upstream.write(
        Buffer.from(bytes.toString('latin1').replace(/\blisten "/, 'lesten "'), 'latin1'),
      )
    })
  })
  const url = new URL(database)
  url.port = String(await listening(t, server))
  return url.href
}

t.test('without LISTEN events are handled, and the health says that it is missing', async (t) => {
  const database = await withoutListen(t, await freshDatabase(t))
  const apps = [Fastify(), Fastify()] as const
  const handled: string[] = []
  for (const app of apps) {
    t.teardown(() => app.close())
    await app.register(svcCore, { database, worker: { enabled: app === apps[1] } })
  }
  await apps[1].svc.events.subscribe('order.placed', (_order, { id }) => void handled.push(id))
  for (const app of apps) await app.ready()
  await apps[0].svc.events.publish('order.placed', {}, { id: 'one' })
  await until(() => handled.length > 0)
  t.strictSame(handled, ['one'], 'found by polling')
  const { ok, listener, database: its } = await apps[1].svc.health()
  t.match({ ok, listener, its }, { ok: false, listener: { ok: false }, its: { ok: true } })
})

const taken: [what: string, statement: string, message: RegExp][] = [
  [
    'advisory locks',
    `do $$ declare lock regprocedure; begin
       for lock in select oid from pg_proc where proname like 'pg\\_%advisory%' loop
         execute format('revoke execute on function %s from public', lock);
       end loop;
     end $$`,
    /permission denied for function pg_try_advisory_xact_lock/,
  ],
  [
    'PL/pgSQL',
    'revoke usage on language plpgsql from public',
    /permission denied for language plpgsql/,
  ],
]
for (const [what, statement, message] of taken) {
  t.test(`without ${what} the boot is refused, and says what is missing`, async (t) => {
    const database = await emptyDatabase(t)
    const role = `svc_test_role_${randomBytes(5).toString('hex')}`
    const admin = new pg.Client(database)
    await admin.connect()
    const name = new URL(database).pathname.slice(1)
    await admin.query(`create role ${role} login password 'secret'`)
    await admin.query(`grant create on database ${name} to ${role}`)
    await admin.query(statement)
    t.teardown(async () => {
      await admin.query(`drop owned by ${role}`)
      await admin.query(`drop role ${role}`)
      await admin.end()
    })
    const url = new URL(database)
    url.username = role
    url.password = 'secret'
    const app = newHost(t)
    await t.rejects(async () => app.register(svcCore, { database: url.href }), {
      code: 'SVC_CORE_RIGHTS_MISSING',
      message,
    })
  })
}
