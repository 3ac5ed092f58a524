import t from 'tap'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

/** Postgres answers each write of an event and of an entry with this SQLSTATE. */
const failing = (code: string): string => `
  create or replace function fail() returns trigger language plpgsql as
    $$ begin raise exception 'quotes a row: secret' using errcode = '${code}'; end $$;
  create or replace trigger fail before insert on svc."__svc.events"
    for each row execute function fail();
  create or replace trigger fail before insert on svc."__svc.kv"
    for each row execute function fail()`

const refusals: [code: string, expected: object][] = [
  ['53100', { code: 'SVC_UNAVAILABLE', statusCode: 503, message: /the disk .* is full/ }],
  ['25006', { code: 'SVC_UNAVAILABLE', statusCode: 503, message: /only reads/ }],
  ['58030', { code: 'SVC_UNAVAILABLE', statusCode: 503, message: /fault of its own/ }],
  ['57014', { code: 'SVC_UNAVAILABLE', statusCode: 503, message: /busy/ }],
  ['54000', { code: 'SVC_CORE_DATABASE_FAILED', statusCode: 500, message: /SQLSTATE 54000/ }],
]

for (const [code, expected] of refusals) {
  t.test(`a statement that Postgres refuses with ${code} says so in words of ours`, async (t) => {
    const { app } = await startHost(t)
    const { database, events, kv } = app.svc
    await database.query(failing(code))
    const work: Record<string, () => Promise<unknown>> = {
      publish: () => events.publish('a', 1),
      'publish with an id': () => events.publish('a', 1, { id: 'x' }),
      set: () => kv.set('a', 1),
      setIfAbsent: () => kv.setIfAbsent('a', 1),
      increment: () => kv.increment('a'),
    }
    for (const [name, run] of Object.entries(work)) {
      const error = await run().then(
        () => undefined,
        (reason: Error) => reason,
      )
      t.match(error, expected, name)
      t.notMatch(error?.message, /secret/, name)
    }
  })
}

t.test('a server that only reads is not healthy, and the reason says so', async (t) => {
  const { app } = await startHost(t)
  await until(async () => (await app.svc.health()).database.ok)
  const { rows } = await app.svc.database.query('select current_database() as name')
  await app.svc.database.query(
    `alter database ${rows[0].name} set default_transaction_read_only = on`,
  )
  await app.svc.database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  )
  // That of this statement has begun before.
  const last = await app.svc.database.connect()
  last.release(true)
  const reads = 'the database only reads at the moment, try again'
  t.match(await until(app.svc.health, ({ database }) => database.reason === reads), { ok: false })
})
