/**
 * A deploy that replaces processes one by one: an older version at work, a newer one that boots beside
 * it and makes its tables, and the older one again, which boots beside those.
 */
import { svcAuth } from '@svc/auth'
import { svcCore, type SvcCoreOptions } from '@svc/core'
import { advance, drain, receiver as openReceiver } from '@svc/core/testing'
import { svcWebhooks } from '@svc/webhooks'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { emptyDatabase } from '../support/fresh-database.ts'
import { olderFolder, withoutCommit } from '../support/older-packages.ts'
import { freePort, runProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

/** The version whose tables are in tests/data/tables-1.sql. */
const OLDER = '822f071'
const ADMIN = 'svc_0123456789abcdefghijABCDEFGHIJ0123456789'

const OLDER_HOST = `
import Fastify from 'fastify'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'

const app = Fastify({ logger: { level: 'warn' }, pluginTimeout: 60_000 })
const handled: number[] = []
await app.register(svcCore, {
  database: process.env.DATABASE_URL!,
  secrets: (name) => (name === 'ADMIN' ? '${ADMIN}' : null),
})
await app.register(svcAuth, { bootstrapKeySecret: 'ADMIN' })
await app.register(svcWebhooks, {
  allowedEvents: ['order.created'],
  allowedNetworks: ['127.0.0.0/8'],
})
await app.svc.events.subscribe(
  'order.created',
  ({ id }: { id: number }) => void handled.push(id),
  { subscription: 'of-the-older' },
)
app.get('/handled', () => handled)
app.post('/orders', (request) =>
  app.svc.transaction((db) => app.svc.events.publish('order.created', request.body, { db })),
)
await app.listen({ port: Number(process.env.PORT) })
console.log('listening')
process.on('SIGTERM', () => void app.close())
`

interface Answer {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- what a test expects of it is its matter
  body: any
}

interface Host {
  ask(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Answer>
  /** The status of a request with this key. */
  statusOf(key: string): Promise<number>
}

async function startOlder(t: Test, folder: string, database: string) {
  const port = await freePort()
  const program = runProgram(t, folder, 'host.ts', { DATABASE_URL: database, PORT: port })
  await program.says(/listening/)
  const url = `http://127.0.0.1:${port}`
  const host: Host = {
    async ask(method, path, body) {
      const reply = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${ADMIN}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await reply.text()
      return { status: reply.status, body: text === '' ? undefined : JSON.parse(text) }
    },
    async statusOf(key) {
      const reply = await fetch(`${url}/handled`, { headers: { 'x-api-key': key } })
      await reply.text()
      return reply.status
    },
  }
  return { ...host, program }
}

async function startNewer(
  t: Test,
  database: string,
  handled: number[],
  worker: NonNullable<SvcCoreOptions['worker']> = {},
): Promise<FastifyInstance> {
  const app = Fastify({ pluginTimeout: 60_000 })
  t.teardown(() => app.close())
  await app.register(svcCore, { database, worker })
  await app.register(svcAuth)
  await app.register(svcWebhooks, {
    allowedEvents: ['order.created'],
    allowedNetworks: ['127.0.0.0/8'],
  })
  await app.svc.events.subscribe(
    'order.created',
    ({ id }: { id: number }) => void handled.push(id),
    { subscription: 'of-the-newer' },
  )
  app.get('/orders', () => [])
  await app.ready()
  return app
}

t.test(
  'a newer version boots beside an older one, and both guard, publish, deliver and handle',
  { skip: await withoutCommit(OLDER) },
  async (t) => {
    const database = await emptyDatabase(t)
    const partner = await openReceiver()
    t.teardown(() => partner.close())
    const folder = await olderFolder(t, OLDER, { 'host.ts': OLDER_HOST })
    const delivered = () => partner.received.map(({ body }) => body.payload.id as number).toSorted()

    // The older one alone, on its own tables.
    const older = await startOlder(t, folder, database)
    const { body: webhook } = await older.ask('POST', '/_webhooks', {
      url: partner.url,
      events: ['*'],
    })
    partner.secret = webhook.secret
    const { body: user } = await older.ask('POST', '/_auth/users', { email: 'a@b.co', name: 'A' })
    const { body: first } = await older.ask('POST', `/_auth/users/${user.id}/keys`, {})
    await older.ask('POST', '/orders', { id: 1 })
    await until(() => delivered().length === 1)

    // The newer one makes its tables while the older one works.
    const handled: number[] = []
    const newer = await startNewer(t, database, handled)
    const { svc } = newer
    const publish = (id: number, tenant?: string) =>
      svc.events.publish('order.created', { id }, tenant === undefined ? {} : { tenant })
    await publish(2)
    await publish(3, 'acme')
    await older.ask('POST', '/orders', { id: 4 })
    await drain(newer)
    t.strictSame(delivered(), [1, 2, 3, 4])
    t.ok(partner.received.every(({ verified }) => verified))
    await until(async () => (await older.ask('GET', '/handled')).body.length === 4)
    t.strictSame(handled.toSorted(), [2, 3, 4], 'each subscription has what both published')

    // Keys of either are known to both, and a revocation by either is.
    const statusAtNewer = async (key: string) =>
      (await newer.inject({ url: '/orders', headers: { 'x-api-key': key } })).statusCode
    const second = await svc.auth.createApiKey({ userId: user.id, metadata: { of: 'newer' } })
    t.equal(await statusAtNewer(first.key), 200)
    t.equal(await older.statusOf(second.key), 200)
    await svc.auth.revokeApiKey(first.id)
    await until(async () => (await older.statusOf(first.key)) === 401)
    t.equal((await older.ask('DELETE', `/_auth/keys/${second.id}`)).status, 204)
    await until(async () => (await statusAtNewer(second.key)) === 401)

    // Settings that the older one does not know stay as they are when it changes others.
    await svc.webhooks.update({ id: webhook.id, metadata: { of: 'newer' }, ordered: true })
    t.equal((await older.ask('PATCH', `/_webhooks/${webhook.id}`, { label: 'L' })).status, 200)
    t.match(await svc.webhooks.get(webhook.id), {
      label: 'L',
      ordered: true,
      metadata: { of: 'newer' },
    })
    await svc.webhooks.update({ id: webhook.id, ordered: null })

    // A delivery that fails is tried again, by whichever comes first.
    partner.answer(({ body }) => (body.payload.id === 5 ? 503 : 200))
    await older.ask('POST', '/orders', { id: 5 })
    await until(() => delivered().includes(5))
    partner.answer(200)
    await drain(newer)
    await advance(newer, 3600)
    await drain(newer)
    t.strictSame(delivered(), [1, 2, 3, 4, 5, 5])

    // A process of the older version boots beside the newer tables, and goes on when the newer is gone.
    t.equal(await older.program.end(), 0)
    const rolledBack = await startOlder(t, folder, database)
    await publish(6)
    await newer.close()
    await rolledBack.ask('POST', '/orders', { id: 7 })
    await until(() => delivered().length === 8)
    t.strictSame(delivered(), [1, 2, 3, 4, 5, 5, 6, 7])
    await until(async () => (await rolledBack.ask('GET', '/handled')).body.length >= 2)
    // The log has a delivery a little after the receiver: by then it is settled.
    const ofWebhook = `/_webhooks/${webhook.id}/deliveries`
    const { body: log } = await until(
      () => rolledBack.ask('GET', ofWebhook),
      ({ body }) =>
        body.filter(({ status }: { status: string }) => status === 'delivered').length === 7,
    )
    for (const { program } of [older, rolledBack]) {
      t.notMatch(program.printed, /"level":[56]0/, 'nothing went wrong in it')
    }

    // A delivery to another address, of which the older one knows nothing, is not sent to the webhook.
    const elsewhere = await openReceiver()
    t.teardown(() => elsewhere.close())
    const asking = await startNewer(t, database, [], { enabled: false })
    const { deliveryId } = await asking.svc.webhooks.redeliver({
      webhookId: webhook.id,
      deliveryId: log[0].deliveryId,
      url: elsewhere.url,
    })
    const states = `select state from svc_jobs.job where data ->> 'deliveryId' = $1`
    await until(async () => {
      const { rows } = await asking.svc.database.query(states, [deliveryId])
      return rows[0]?.state === 'retry'
    })
    const knowing = await startNewer(t, database, [])
    await until(async () => {
      await advance(knowing, 3600)
      return elsewhere.received.length > 0
    })
    t.match(elsewhere.received, [{ body: { deliveryId } }])
    t.equal(delivered().length, 8, 'the webhook has got nothing of it')
  },
)
