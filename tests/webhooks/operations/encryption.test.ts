// Secrets of webhooks and values of their headers, encrypted at rest.
import { randomBytes } from 'node:crypto'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { svcCore } from '@svc/core'
import { verifyDelivery } from '@svc/receiver'
import { openReceiver } from '../../support/receiver.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { until } from '../../support/until.ts'
import { startHost, type Host } from '../support/host.ts'

const keys: Record<string, string> = {
  KEY_1: randomBytes(32).toString('base64'),
  KEY_2: randomBytes(32).toString('base64'),
}
const events = ['order.created']
const headers = { Authorization: 'Bearer abc', 'X-Key': 'k' }

/** A host with these keys; none: without the option. */
const hostWith = (t: Test, database: string, ...secretNames: string[]): Promise<Host> =>
  startHost(t, {
    database,
    core: {
      secrets: (name) => keys[name] ?? null,
      ...(secretNames.length > 0 && { encryption: { secretNames } }),
    },
  })

/** All that is stored of the webhooks. */
const stored = async ({ app }: Host): Promise<string> =>
  JSON.stringify(
    (await app.svc.database.query('select * from svc."__svc.webhooks.registrations"')).rows,
  )

t.test('secrets and values of headers are stored encrypted, and used decrypted', async (t) => {
  const receiver = await openReceiver(t)
  const host = await hostWith(t, await freshDatabase(t), 'KEY_1')
  const made = await host.ask('POST', '', { url: receiver.url, events, headers })
  const { id, secret } = made.body
  t.match(made.body, { secret: /^whsec_/, headers })
  const first = await stored(host)
  for (const hidden of [secret, 'Bearer']) t.notMatch(first, hidden)
  t.match((await host.ask('GET', `/${id}`)).body, { secret, headers })

  const { body: rotated } = await host.ask('POST', `/${id}/rotate-secret`)
  t.match(rotated, { secret: /^whsec_/, headers: { Authorization: '***', 'X-Key': '***' } })
  await host.app.svc.events.publish('order.created', { id: 1 })
  const [sent] = await receiver.waitFor(1)
  t.equal(sent!.headers.authorization, 'Bearer abc')
  for (const one of [secret, rotated.secret])
    t.ok(verifyDelivery({ ...sent!, body: sent!.raw, secret: one }))

  await host.ask('PATCH', `/${id}`, { headers: { 'X-Other': 'later' } })
  t.match((await host.ask('GET', `/${id}`)).body.headers, { 'X-Other': 'later' })
  const text = await stored(host)
  for (const hidden of [secret, rotated.secret, 'Bearer', 'later']) t.notMatch(text, hidden)
  t.equal(text.split('svcenc:v1:').length - 1, 3, 'two secrets and one header')
})

t.test('rows from before are used, and encrypted by reencrypt', async (t) => {
  const receiver = await openReceiver(t)
  const database = await freshDatabase(t)
  const before = await hostWith(t, database)
  const made = await before.app.svc.webhooks.register({ url: receiver.url, events, headers })
  const between = await before.app.svc.webhooks.rotateSecret({ id: made.id })
  const { secret } = await before.app.svc.webhooks.rotateSecret({ id: made.id })
  await t.rejects(before.app.svc.reencrypt(), { code: 'SVC_CORE_INVALID_OPTION' })
  await before.app.close()

  const host = await hostWith(t, database, 'KEY_1')
  t.match(await host.app.svc.webhooks.get(made.id), { secret, headers })
  t.same(await host.app.svc.reencrypt(), { reencrypted: 1 })
  t.same(await host.app.svc.reencrypt(), { reencrypted: 0 })
  const text = await stored(host)
  for (const hidden of [made.secret, between.secret, secret, 'Bearer']) t.notMatch(text, hidden)
  t.match(await host.app.svc.webhooks.get(made.id), { secret, headers })
  await host.app.svc.events.publish('order.created', {})
  const [sent] = await receiver.waitFor(1)
  for (const one of [made.secret, between.secret, secret])
    t.ok(verifyDelivery({ ...sent!, body: sent!.raw, secret: one }))
  const { secret: newest } = await host.app.svc.webhooks.rotateSecret({ id: made.id })
  t.notMatch(await stored(host), secret, 'the one that was replaced is encrypted too')
  await host.app.svc.events.publish('order.created', {})
  const [, later] = await receiver.waitFor(2)
  for (const one of [made.secret, between.secret, secret, newest])
    t.ok(verifyDelivery({ ...later!, body: later!.raw, secret: one }))
  await host.app.close()

  const next = await hostWith(t, database, 'KEY_2', 'KEY_1')
  await next.register(receiver.url)
  t.same(await next.app.svc.reencrypt(), { reencrypted: 1 }, 'the one with the former key')
  await next.app.close()
  const without = await hostWith(t, database, 'KEY_2')
  t.match(await without.app.svc.webhooks.get(made.id), { secret: newest, headers })
})

t.test('a host without the encryption key lists webhooks and postpones deliveries', async (t) => {
  const receiver = await openReceiver(t)
  const database = await freshDatabase(t)
  const host = await hostWith(t, database, 'KEY_1')
  const { id } = await host.app.svc.webhooks.register({ url: receiver.url, events, headers })
  await host.app.close()

  for (const secretNames of [[], ['KEY_2']]) {
    const other = await hostWith(t, database, ...secretNames)
    t.match(await other.ask('GET', ''), {
      status: 200,
      body: [{ id, headers: { 'X-Key': '***' } }],
    })
    t.match(await other.ask('PATCH', `/${id}`, { label: 'l' }), { status: 200 })
    t.match(await other.ask('GET', `/${id}`), { status: 500 })
    await other.app.svc.events.publish('order.created', {})
    const waiting = async () => {
      const { rowCount } = await other.app.svc.database.query(
        `select 1 from svc_jobs.job where name = '__svc.webhooks.deliver' and state < 'active'
            and start_after > now() + interval '5 s'`,
      )
      return rowCount
    }
    await until(waiting, (count) => count === (secretNames.length === 0 ? 1 : 2))
    t.same(await other.app.svc.webhooks.listDeliveries(id), [], 'no attempt was used up')
    await other.app.close()
  }
  t.same(receiver.received, [])

  // A new secret can be made all the same.
  const other = await hostWith(t, database, 'KEY_2')
  await other.app.svc.webhooks.update({ id, headers: null })
  const { secret } = await other.app.svc.webhooks.rotateSecret({ id })
  t.equal((await other.app.svc.webhooks.get(id)).secret, secret)
})

t.test('a secret of one webhook is not that of another', async (t) => {
  const host = await hostWith(t, await freshDatabase(t), 'KEY_1')
  const [one, two] = [
    await host.register('http://127.0.0.1:9/'),
    await host.register('http://127.0.0.1:9/'),
  ]
  await host.app.svc.database.query(
    `update svc."__svc.webhooks.registrations" a set secret = b.secret
       from svc."__svc.webhooks.registrations" b where a.id = $1 and b.id = $2`,
    [one.id, two.id],
  )
  await t.rejects(host.app.svc.webhooks.get(one.id), { code: 'SVC_CORE_DECRYPTION_FAILED' })
  t.equal((await host.app.svc.webhooks.get(two.id)).secret, two.secret)
})

t.test('an invalid encryption key is an error at boot', async (t) => {
  const wrong: [object, RegExp][] = [
    [{ secretNames: ['NONE'] }, /secret "NONE".*32 bytes in base64.*not set/],
    [{ secretNames: ['KEY_1', 'SHORT'] }, /secret "SHORT".*another text/],
    [{ secretNames: [] }, /"encryption" must be an object such as/],
    [{}, /"encryption" must be/],
  ]
  for (const [encryption, message] of wrong) {
    const app = Fastify()
    const secrets = (name: string) => ({ ...keys, SHORT: 'AAAA' })[name] ?? null
    const options = { database: 'postgres://127.0.0.1:1/none', secrets, encryption }
    app.register(svcCore, options as never)
    await t.rejects(async () => await app.ready(), { code: 'SVC_CORE_INVALID_OPTION', message })
    await app.close()
  }
})
