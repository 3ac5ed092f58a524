// The handshakes of presets, over HTTP: what is no event never reaches the database, so there is none.
import { createHmac } from 'node:crypto'
import t from 'tap'
import { providers } from '@svc/webhooks/providers'
import { hex, hostOf, post, type Host } from './counting-host.ts'

t.test('GET: Meta’s challenge is echoed as text if the request has the token', async (t) => {
  const source = providers.meta({ path: '/a', secretName: 'APP', verifyTokenSecretName: 'TOKEN' })
  const { app, published } = hostOf(t, source, { APP: 'k', TOKEN: 'open sesame' })
  const ask = (token: string, mode = 'subscribe') =>
    app.inject(
      `/a?hub.mode=${mode}&hub.verify_token=${encodeURIComponent(token)}&hub.challenge=<b>1`,
    )
  const answer = await ask('open sesame')
  t.equal(answer.statusCode, 200)
  t.equal(answer.body, '<b>1')
  t.match(answer.headers, { 'content-type': /text\/plain/, 'x-content-type-options': 'nosniff' })
  t.equal((await ask('sesame')).statusCode, 401)
  t.equal((await ask('open sesame', 'unsubscribe')).statusCode, 404)
  t.equal((await app.inject('/a')).statusCode, 404)
  t.strictSame(published, [])
  const event = '{"object":"page","entry":[]}'
  const signature = { 'x-hub-signature-256': `sha256=${hex(event, 'k')}` }
  t.equal((await post(app, event, signature)).statusCode, 200)
  t.strictSame(published, ['meta.page'])
})

t.test('GET: a handshake is refused while its token is not set', async (t) => {
  const source = providers.meta({ path: '/a', secretName: 'APP', verifyTokenSecretName: 'TOKEN' })
  const { app } = hostOf(t, source, { APP: 'k' })
  for (const token of ['', 'null', 'undefined']) {
    const answer = await app.inject(
      `/a?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1`,
    )
    t.not(answer.statusCode, 200, token)
  }
})

t.test('GET: Okta’s challenge is answered as JSON', async (t) => {
  const { app } = hostOf(t, providers.okta({ path: '/a', secretName: 'OKTA' }), { OKTA: 'k' })
  const headers = { 'x-okta-verification-challenge': 'abc' }
  const answer = await app.inject({ url: '/a', headers })
  t.strictSame(answer.json(), { verification: 'abc' })
})

t.test('HEAD: Trello’s check of the URL is answered, and GET is not', async (t) => {
  const source = providers.trello({
    path: '/a',
    secretName: 'TRELLO',
    publicOrigin: 'https://example.com',
  })
  const { app, published } = hostOf(t, source, { TRELLO: 'k' })
  t.equal((await app.inject({ method: 'HEAD', url: '/a' })).statusCode, 200)
  t.equal((await app.inject('/a')).statusCode, 404)
  t.strictSame(published, [])
})

t.test('unsigned POST: Asana’s secret is echoed and kept, and signs from then on', async (t) => {
  const kept: string[] = []
  const secrets: Host['secrets'] = {}
  const source = providers.asana({
    path: '/a',
    secretName: 'ASANA',
    onHandshake: (secret) => {
      kept.push(secret)
      secrets['ASANA'] = secret
    },
  })
  const { app, published } = hostOf(t, source, secrets)
  const event = '{"events":[{"action":"changed","resource":{"resource_type":"task"}}]}'
  t.equal((await post(app, event)).statusCode, 500, 'before there is a secret')
  const answer = await post(app, '{}', { 'x-hook-secret': 'b537207f' })
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers['x-hook-secret'], 'b537207f')
  t.strictSame(kept, ['b537207f'])
  const signed = await post(app, event, { 'x-hook-signature': hex(event, 'b537207f') })
  t.equal(signed.statusCode, 200)
  t.strictSame(published, ['asana.task.changed'])
})

t.test(
  'unsigned POST: the secret is kept also where the host answers signed requests',
  async (t) => {
    const kept: string[] = []
    const source = providers.notion({
      path: '/a',
      secretName: 'N',
      onHandshake: (secret) => void kept.push(secret),
      respond: () => ({ body: 'mine' }),
    })
    const { app, published } = hostOf(t, source, { N: 'k' })
    t.equal((await post(app, '{"verification_token":"s"}')).statusCode, 200)
    t.strictSame(kept, ['s'])
    const event = '{"type":"page.created"}'
    const signed = await post(app, event, { 'x-notion-signature': `sha256=${hex(event, 'k')}` })
    t.equal(signed.body, 'mine')
    t.strictSame(published, [])
  },
)

t.test('unsigned POST: without onHandshake the secret is refused', async (t) => {
  for (const onHandshake of [undefined, () => false]) {
    const options = { path: '/a', secretName: 'N', ...(onHandshake && { onHandshake }) }
    const { app, published } = hostOf(t, providers.notion(options), { N: 'old' })
    const answer = await post(app, '{"verification_token":"secret_forged"}')
    t.equal(answer.statusCode, 401)
    t.strictSame(published, [])
  }
})

t.test('unsigned POST: a request that looks like a handshake publishes no event', async (t) => {
  const kept: string[] = []
  const source = providers.notion({
    path: '/a',
    secretName: 'N',
    onHandshake: (secret) => void kept.push(secret),
  })
  const { app, published } = hostOf(t, source, { N: 'k' })
  t.equal((await post(app, '{"verification_token":"s","type":"page.created"}')).statusCode, 401)
  t.equal((await post(app, '{"verification_token":"s"}')).statusCode, 200)
  t.strictSame(kept, ['s'])
  t.strictSame(published, [])
})

t.test('unsigned POST: Microsoft Graph’s token is echoed as text', async (t) => {
  const source = providers.microsoftGraph({ path: '/a', secretName: 'G' })
  const { app, published } = hostOf(t, source, { G: 'state' })
  const answer = await post(app, '{}', {}, '/a?validationToken=a%20%3Cb%3E')
  t.equal(answer.statusCode, 200)
  t.equal(answer.body, 'a <b>')
  t.match(answer.headers['content-type'], /text\/plain/)
  t.strictSame(published, [])
  const body = JSON.stringify({
    value: [
      { id: '1', changeType: 'updated', clientState: 'state' },
      { id: '2', changeType: 'updated', clientState: 'other' },
    ],
  })
  t.equal((await post(app, body)).statusCode, 401, 'one foreign item refuses all')
})

t.test('an event is answered as its provider expects', async (t) => {
  const source = providers.airtable({ path: '/a', secretName: 'A' })
  const key = Buffer.from('a key')
  const { app, published } = hostOf(t, source, { A: key.toString('base64') })
  const code = createHmac('sha256', key).update('{}').digest('hex')
  const answer = await post(app, '{}', { 'x-airtable-content-mac': `hmac-sha256=${code}` })
  t.equal(answer.statusCode, 204)
  t.equal(answer.body, '')
  t.strictSame(published, ['airtable.ping'])
})
