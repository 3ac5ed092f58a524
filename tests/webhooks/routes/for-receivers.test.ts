// The open routes for receivers, where svcAuth guards all paths.
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { openReceiver } from '../../support/receiver.ts'
import { svcWebhooks, type SvcWebhooksOptions } from '@svc/webhooks'
import t, { type Test } from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { newHost } from '../../support/new-host.ts'

const SIGNING_KEY = `whsk_${randomBytes(32).toString('base64')}`
const UNKNOWN = '018f4e5a-7b1c-7def-8abc-0123456789ab'

async function startGuarded(
  t: Test,
  ed25519: NonNullable<SvcWebhooksOptions['ed25519']> | null,
  options: SvcWebhooksOptions = {},
) {
  const database = { connectionString: await freshDatabase(t), max: 3 }
  const app = newHost(t)
  await app.register(svcCore, { database, secrets: () => SIGNING_KEY })
  await app.register(svcAuth, { protectedPaths: 'all' })
  const allowedNetworks = ['127.0.0.0/8']
  await app.register(svcWebhooks, { allowedEvents: ['a'], allowedNetworks, ed25519, ...options })
  await app.ready()
  const ask = async (path: string) => {
    const reply = await app.inject(`/_webhooks${path}`)
    return { status: reply.statusCode, body: reply.json() }
  }
  return { app, ask }
}

t.test('the public keys of a webhook need no API key, and the events need one', async (t) => {
  const { app, ask } = await startGuarded(t, { secretName: 'SIGNING_KEY' })
  const { id, publicKey } = await app.svc.webhooks.register({
    url: 'https://x.example/',
    events: ['*'],
  })
  const keys = { status: 200, body: { keys: [publicKey] } }
  t.same(await ask(`/public-keys?webhookId=${id}`), keys)
  t.same(await ask(`/public-keys?webhookId=${id.toUpperCase()}`), keys)
  for (const path of ['', '/events', '/asyncapi.json', `/${id}`]) {
    t.equal((await ask(path)).status, 401, path)
  }
})

t.test('the JSON Web Key of a webhook verifies its deliveries', async (t) => {
  const { app, ask } = await startGuarded(t, { secretName: 'SIGNING_KEY' })
  const receiver = await openReceiver(t)
  const { id } = await app.svc.webhooks.register({ url: receiver.url, events: ['a'] })
  const { body } = await ask(`/jwks.json?webhookId=${id}`)
  const [jwk, ...others] = body.keys
  t.same(others, [])
  const { kid, x, ...rest } = jwk
  t.strictSame(rest, { kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA' })
  const thumbprint = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`)
  t.equal(kid, thumbprint.digest('base64url'))

  await app.svc.events.publish('a', { id: 1 })
  const { headers, raw } = (await receiver.waitFor(1))[0]!
  const [, signature = ''] = String(headers['webhook-signature']).split(' v1a,')
  const signed = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${raw}`)
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  t.ok(verify(null, signed, key, Buffer.from(signature, 'base64')))
})

t.test('the keys of an id say nothing of whether it is one of a webhook', async (t) => {
  const { ask } = await startGuarded(t, { secretName: 'SIGNING_KEY' })
  for (const path of ['/public-keys', '/jwks.json']) {
    t.match(await ask(`${path}?webhookId=${UNKNOWN}`), {
      status: 200,
      body: { keys: { length: 1 } },
    })
    for (const id of ['x', `${UNKNOWN}0`, '%00']) {
      const code = 'SVC_WEBHOOKS_NO_PUBLIC_KEYS'
      t.match(await ask(`${path}?webhookId=${id}`), { status: 404, body: { code } }, id)
    }
    for (const query of [
      '',
      '?webhookId=',
      `?webhookid=${UNKNOWN}`,
      `?webhookId=${UNKNOWN}&webhookId=${UNKNOWN}`,
    ]) {
      t.equal((await ask(`${path}${query}`)).status, 400, query)
    }
  }
})

t.test('without the option there are no public keys, for nobody', async (t) => {
  const { ask } = await startGuarded(t, null)
  for (const path of ['/public-keys', '/jwks.json']) {
    for (const query of ['', `?webhookId=${UNKNOWN}`]) {
      t.match(await ask(path + query), {
        status: 404,
        body: { code: 'SVC_WEBHOOKS_NO_PUBLIC_KEYS' },
      })
    }
  }
})

t.test('the addresses that deliveries come from need no API key', async (t) => {
  const egressAddresses = ['203.0.113.0/28', '203.0.113.77', '2001:db8::/48']
  const { ask } = await startGuarded(t, null, { egressAddresses })
  t.same(await ask('/egress'), { status: 200, body: { addresses: egressAddresses } })
  const other = await startGuarded(t, null)
  t.match(await other.ask('/egress'), {
    status: 404,
    body: { code: 'SVC_WEBHOOKS_NO_EGRESS_ADDRESSES' },
  })
})
