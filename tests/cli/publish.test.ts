/** Verbs that publish or change things, beside a host that runs. */
import { svcAuth } from '@svc/auth'
import { Type } from '@sinclair/typebox'
import { defineEvents, svcCore } from '@svc/core'
import { drain } from '@svc/testing'
import { svcWebhooks } from '@svc/webhooks'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { emptyDatabase, freshDatabase } from '../support/fresh-database.ts'
import { svc } from '../support/svc-command.ts'
import { until } from '../support/until.ts'
import { sessionOn } from '../support/session.ts'
import { newHost } from '../support/new-host.ts'
import { wholeHost } from '../support/whole-host.ts'
import { openReceiver } from '../support/receiver.ts'

t.test('svc send --via has the host send an example to one webhook', async (t) => {
  const app = newHost(t)
  const SVC_KEY = 'a-bootstrap-key-of-this-test'
  await app.register(svcCore, {
    database: await freshDatabase(t),
    secrets: () => SVC_KEY,
    events: defineEvents({
      'order.created': { payload: Type.Object({ id: Type.Number() }), example: { id: 12 } },
      'order.paid': { payload: Type.Any() },
    }),
  })
  await app.register(svcAuth, { bootstrapKeySecret: 'KEY' })
  await app.register(svcWebhooks, {
    allowedNetworks: ['127.0.0.0/8'],
    allowedEvents: ['order.created', 'order.paid'],
    transforms: {
      doubled: ({ payload }) => ({ body: { twice: (payload as { id: number }).id * 2 } }),
    },
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const partner = await openReceiver(t)
  const events = ['order.created']
  const { id } = await app.svc.webhooks.register({ url: partner.url, events, transform: 'doubled' })
  const args = ['send', 'order.created', '--via', id, '--url', url]
  t.match(await svc(t, args, { SVC_KEY }), {
    exitCode: 0,
    lines: [/^queued order\.created for the webhook \S+, delivery \S+$/],
  })
  await drain(app)
  t.match(partner.received, [{ body: { twice: 24 } }])
  const unknown = [...args.slice(0, 3), '01900000-0000-7000-8000-000000000000', '--url', url]
  t.match(await svc(t, unknown, { SVC_KEY }), { exitCode: 1, errors: [/webhook/i] })
  t.match(await svc(t, [...args, '--payload', '{}'], { SVC_KEY }), {
    exitCode: 2,
    errors: [/leave --payload out/],
  })
  const bare = ['send', 'order.paid', ...args.slice(2)]
  t.match(await svc(t, bare, { SVC_KEY }), { exitCode: 1, errors: [/has no example/] })
  t.match(await svc(t, args.slice(0, 4), { SVC_KEY }), { exitCode: 2, errors: [/needs --url/] })
})

async function startHost(t: Test, database: string, schema?: string) {
  const app = await wholeHost(
    t,
    {
      database,
      schema,
      application: 'shop',
      eventRetentionDays: 7,
      worker: { maxAttempts: 1 },
    },
    { auth: { scopes: ['orders:read'], roles: { viewer: ['orders:read'] } } },
  )
  app.get('/orders', { config: { scopes: ['orders:read'] } }, async () => 'orders')
  return app
}

t.test('svc send publishes: a webhook of the tenant and a handler get it, once', async (t) => {
  const database = await freshDatabase(t)
  const env = { DATABASE_URL: database }
  const app = await startHost(t, database)
  const handled: unknown[] = []
  await app.svc.events.subscribe('order.created', (payload) => void handled.push(payload))
  await app.ready()
  const partner = await openReceiver(t)
  const { secret } = await app.svc.webhooks.register({
    url: partner.url,
    events: ['order.created'],
    tenant: 'acme',
  })
  partner.secret = secret

  const args = ['send', 'order.created', '--payload', '{"id":7}', '--tenant', 'acme', '--id', 'o-7']
  const sent = await svc(t, args, env)
  t.match(sent, { exitCode: 0, lines: ['published order.created o-7'] })
  await until(() => partner.received.length > 0 && handled.length > 0)
  await drain(app)
  t.match(partner.received, [
    { verified: true, body: { event: 'order.created', payload: { id: 7 } } },
  ])
  t.strictSame(handled, [{ id: 7 }])
  const again = await svc(t, [...args, '--json'], env)
  t.strictSame(JSON.parse(again.text), { id: 'o-7', duplicate: true })
})

t.test('the payload may be in a file, and is JSON', async (t) => {
  const database = await freshDatabase(t)
  const env = { DATABASE_URL: database }
  const app = await startHost(t, database)
  const handled: unknown[] = []
  await app.svc.events.subscribe('order.created', (payload) => void handled.push(payload))
  await app.ready()
  const folder = await mkdtemp(join(tmpdir(), 'svc-cli-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'order.json'), '["from a file"]')
  const send = (...args: string[]) => svc(t, ['send', ...args], env, { folder })
  t.match(await send('order.created', '--payload', '@order.json'), { exitCode: 0 })
  await until(() => handled.length > 0)
  t.strictSame(handled, [['from a file']])
  const cases = [
    [['order.created', '--payload', '{id:7}'], /the payload is not JSON/],
    [['order.created', '--payload', '@none.json'], /cannot be read: ENOENT/],
    [['order created'], /an event name is 1 to 200/],
    [['svc.key.created'], /begin with "svc\."/],
    [['order.created', '--tenant', 'a b'], /tenant/],
  ] as const
  await Promise.all(
    cases.map(async ([args, says]) => {
      const { exitCode, errors } = await send(...args)
      t.equal(exitCode, 2, args.join(' '))
      t.match(errors.join('\n'), says)
    }),
  )
})

t.test('a verb changes nothing of what the hosts have declared', async (t) => {
  const database = await emptyDatabase(t)
  const env = { DATABASE_URL: database }
  const app = await startHost(t, database)
  await app.ready()
  await app.close()
  const client = await sessionOn(t, database)
  // The hosts have stopped some time ago, as between two deploys.
  await client.query(`update svc."__svc.processes"
    set closed_at = now() - interval '5 minutes', renewed_at = now() - interval '5 minutes'`)
  const read = async () => ({
    events: (await client.query('select * from svc."__svc.subscriptions" order by 1, 2')).rows,
    applications: (await client.query('select name from svc."__svc.applications"')).rows,
    days: (
      await client.query(
        `select distinct declares -> 'days' -> 'eventRetentionDays' from svc."__svc.processes"`,
      )
    ).rows,
  })
  const before = await read()
  t.match(before, { applications: [{ name: 'shop' }] })
  t.match(await svc(t, ['pause'], env), { exitCode: 0 })
  t.match(await svc(t, ['send', 'order.created'], env), { exitCode: 0 })
  t.strictSame(await read(), before)
})

t.test('svc pause and resume stop and start all webhooks, a tenant, a subscription', async (t) => {
  const database = await freshDatabase(t)
  const env = { DATABASE_URL: database }
  const app = await startHost(t, database)
  await app.svc.events.subscribe('order.created', () => {}, { subscription: 'mail' })
  await app.ready()
  const paused = async () => (await app.svc.health()).paused
  for (const [scope, says, expected] of [
    [[], 'deliveries to all webhooks are', { scope: 'all', reason: 'wrong amounts' }],
    [['--tenant', 'acme'], /to the webhooks of acme are/, { scope: 'tenant', tenant: 'acme' }],
    [['--subscription', 'mail'], /the subscription mail is/, { scope: 'subscription' }],
  ] as const) {
    const stopped = await svc(t, ['pause', ...scope, '--reason', 'wrong amounts'], env)
    t.match(stopped, { exitCode: 0, lines: [says] })
    t.match(await paused(), [expected])
    const went = await svc(t, ['resume', ...scope, '--json'], env)
    t.match(JSON.parse(went.text), { paused: false })
    t.strictSame(await paused(), [])
  }
  t.match(await svc(t, ['pause', '--subscription', 'none'], env), {
    exitCode: 1,
    errors: [/there is no subscription "none"/],
  })
  t.match(await svc(t, ['pause', '--subscription', 'a', '--tenant', 'b'], env), { exitCode: 2 })
})

t.test('svc redrive queues dead letters of a webhook or of a subscription again', async (t) => {
  const database = await freshDatabase(t)
  const env = { DATABASE_URL: database }
  const app = await startHost(t, database)
  let isBroken = true
  await app.svc.events.subscribe(
    'order.created',
    () => {
      if (isBroken) throw new Error('broken')
    },
    { subscription: 'mail' },
  )
  await app.ready()
  const partner = await openReceiver(t, { answer: 500 })
  const webhook = await app.svc.webhooks.register({ url: partner.url, events: ['order.created'] })
  await app.svc.events.publish('order.created', 1)
  await drain(app)
  isBroken = false
  partner.answer(204)
  for (const target of ['mail', webhook.id]) {
    const { exitCode, text } = await svc(t, ['redrive', target, '--json'], env)
    t.equal(exitCode, 0)
    t.strictSame(JSON.parse(text), { redriven: 1 }, target)
  }
  await drain(app)
  t.equal((await app.svc.events.deadLetters('mail')).length, 0)
  t.equal((await app.svc.webhooks.countDeadLetters()).count, 0)
  t.match(await svc(t, ['redrive', 'mail'], env), { lines: [/^0 dead letters/] })
  const unknown = '00000000-0000-7000-8000-000000000000'
  t.match(await svc(t, ['redrive', unknown], env), { exitCode: 1 })
})

t.test('svc create-key makes a key that works, and the user once', async (t) => {
  const database = await freshDatabase(t)
  const env = { DATABASE_URL: database }
  const app = await startHost(t, database)
  await app.ready()
  const create = (...args: string[]) =>
    svc(t, ['create-key', '--email', 'Ada@example.com', '--name', 'Ada', ...args], env)
  const made = await create('--scopes', 'orders:read')
  t.match(made, { exitCode: 0, lines: [/^svc_\w{38}$/] })
  const answer = await app.inject({ url: '/orders', headers: { 'x-api-key': made.lines[0]! } })
  t.equal(answer.statusCode, 200)

  const facts = JSON.parse(
    (await create('--scopes', 'role:viewer,read,orders:*', '--expires', '90d', '--json')).text,
  )
  t.match(facts, { key: /^svc_/, scopes: ['role:viewer', 'read', 'orders:*'], tenant: null })
  const days = (Date.parse(facts.expiresAt) - Date.now()) / (24 * 3600_000)
  t.ok(days > 89 && days <= 90)
  const ofAcme = JSON.parse((await create('--tenant', 'acme', '--json')).text)
  t.match(ofAcme, { tenant: 'acme', scopes: ['read', 'write'] })
  t.not(ofAcme.userId, facts.userId)
  t.equal((await app.svc.auth.listUsers()).length, 2)

  const cases = [
    [['create-key', '--email', 'a@b.c'], /required option '--name <name>'/],
    [['create-key', '--email', 'ada', '--name', 'Ada'], /: --email must match/],
    [['create-key', '--email', 'a@b.c', '--name', 'A', '--expires', 'soon'], /--expires must be/],
  ] as const
  await Promise.all(
    cases.map(async ([args, says]) => {
      const { exitCode, errors } = await svc(t, args, env)
      t.equal(exitCode, 2, args.join(' '))
      t.match(errors.join('\n'), says)
    }),
  )
})

t.test('in another schema, and where tables are missing', async (t) => {
  const database = await emptyDatabase(t)
  const env = { DATABASE_URL: database }
  const lacking = await svc(t, ['send', 'order.created', '--schema', 'shop'], env)
  t.match(lacking, { exitCode: 1, errors: [/missing.*npx svc migrate/] })
  t.notMatch(lacking.errors.join(), /"migrate" is|boot/, 'which are words for a host')
  const app = await startHost(t, database, 'shop')
  await app.ready()
  const args = ['--schema', 'shop']
  t.match(await svc(t, ['send', 'order.created', ...args], env), { exitCode: 0 })
  const key = ['create-key', '--email', 'a@example.com', '--name', 'A', ...args]
  t.match(await svc(t, key, env), { exitCode: 0 })
  t.match(await svc(t, key, env), { exitCode: 0 })
  t.match(await svc(t, ['pause', ...args], env), { exitCode: 0 })
  t.match((await app.svc.health()).paused, [{ scope: 'all' }])
})
