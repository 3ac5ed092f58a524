import { drain } from '@svc/testing'
import pg from 'pg'
import t, { type Test } from 'tap'
import { emptyDatabase, freshDatabase } from '../support/fresh-database.ts'
import { startPostgres } from '../support/postgres.ts'
import { startSvc, svc } from '../support/svc-command.ts'
import { until } from '../support/until.ts'
import { wholeHost } from '../support/whole-host.ts'
import { openReceiver } from '../support/receiver.ts'

/** A host with a failing webhook, a dead letter and a paused tenant. */
async function startHost(t: Test, database: string) {
  const app = await wholeHost(t, { database, worker: { maxAttempts: 1 } })
  await app.ready()
  const partner = await openReceiver(t, { answer: 500 })
  await app.svc.auth.createUser({ email: 'ada@example.com', name: 'Ada Lovelace' })
  const webhook = await app.svc.webhooks.register({
    url: `${partner.url}/partner-hook`,
    events: ['order.created'],
    tenant: 'acme',
  })
  await app.svc.events.publish('order.created', { card: '4111' }, { tenant: 'acme' })
  await drain(app)
  await app.svc.webhooks.pauseAll({ tenant: 'acme', reason: 'on holiday' })
  return { app, webhook }
}

t.test('svc status prints queues, failing webhooks, pauses and live processes', async (t) => {
  const database = await freshDatabase(t)
  const env = { DATABASE_URL: database }
  const { app, webhook } = await startHost(t, database)
  await drain(app)
  const { exitCode, text } = await svc(t, ['status'], env)
  t.equal(exitCode, 0)
  t.match(text, /deliveries to webhooks +0 +0 +1\n/)
  t.match(text, /Pauses: 1\n {2}tenant {2}acme {2}since .* {2}on holiday/)
  t.match(text, /Live processes: 1\n.*runs jobs/)
  t.notMatch(text, /\u001B/, 'no colours in a pipe')
  const facts = JSON.parse((await svc(t, ['status', '--json'], env)).text)
  t.match(facts, {
    queues: [{ queue: '__svc.webhooks.deliver', waiting: 0, dead: 1 }],
    paused: [{ scope: 'tenant', tenant: 'acme' }],
    processes: [{ works: true, version: /^\d/ }],
    failingWebhooks: { count: 1, first: [{ id: webhook.id, tenant: 'acme' }] },
  })
})

t.test('--watch goes on until Ctrl-C, which ends it with 0', async (t) => {
  const command = startSvc(t, ['status', '--watch'], { DATABASE_URL: await freshDatabase(t) })
  await command.says(/Queues[^]*Live processes[^]*Queues/)
  command.interrupt()
  t.match(await command.ended, { exitCode: 0 })
})

t.test('--watch goes on when Postgres ends, and another verb ends with 3', async (t) => {
  const postgres = await startPostgres()
  t.teardown(() => postgres.stop())
  const env = { DATABASE_URL: postgres.url }
  t.match(await svc(t, ['migrate'], env), { exitCode: 0 })
  const watching = startSvc(t, ['status', '--watch'], env)
  await watching.says(/Live processes/)
  const client = new pg.Client(postgres.url)
  client.on('error', () => {})
  await client.connect()
  await client.query('begin; lock table svc."__svc.pauses"')
  const isWaiting = async () =>
    (await client.query('select from pg_locks where not granted')).rowCount! > 0
  const pausing = startSvc(t, ['pause'], env)
  await until(isWaiting)
  postgres.kill()
  t.match(await pausing.ended, { exitCode: 3 })
  await watching.says(/it is asked again/)
  watching.interrupt()
  t.match(await watching.ended, { exitCode: 0 })
})

t.test('where the tables are missing it says what to run', async (t) => {
  const ran = await svc(t, ['status'], { DATABASE_URL: await emptyDatabase(t) })
  t.match(ran, { exitCode: 1, errors: [/tables are missing: run "npx svc migrate"/] })
})

t.test('svc info has facts, and nothing that is private', async (t) => {
  const database = await freshDatabase(t)
  await startHost(t, database)
  for (const options of [[], ['--json']]) {
    const { exitCode, text } = await svc(t, ['info', ...options], { DATABASE_URL: database })
    t.equal(exitCode, 0)
    t.match(text, /node.*\d+\.\d+/)
    t.match(text, /001-tables\.sql|002-functions\.sql/)
    t.match(text, /deadLetters"?: 1/)
    const { hostname, pathname } = new URL(database)
    t.notMatch(text, /ada|lovelace|acme|partner-hook|4111|holiday|order\.created/i)
    t.notOk(text.includes(hostname) || text.includes(pathname.slice(1)))
  }
})

t.test('svc info without a database prints the rest, and ends with 3', async (t) => {
  for (const env of [{}, { DATABASE_URL: 'postgres://u:topsecret@127.0.0.1:1/x' }]) {
    const { exitCode, text, errors } = await svc(t, ['info'], env)
    t.equal(exitCode, 3)
    t.match(text, /packages\.@svc\/core: \d[^]*database\.unknown: /)
    t.notMatch([text, ...errors].join(), /topsecret|127\.0\.0\.1/)
  }
})
