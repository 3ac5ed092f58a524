// A receiver that was live before has a secret already: its webhook is registered with that.
import { createHmac, randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { verifyDelivery } from '@svc/receiver'
import type { ReceivedRequest } from '@svc/testing'
import { openReceiver } from '../../support/receiver.ts'
import { startHost } from '../support/host.ts'

const OLD = 'acme-has-had-this-secret!'
const url = 'https://receiver.example/'
const events = ['order.created']

const opens = ({ headers, raw: body }: ReceivedRequest, secret: string) =>
  verifyDelivery({ headers, body, secret })

t.test('a given secret signs as it is, and is shown as any other', async (t) => {
  const { app, ask } = await startHost(t, { standardWebhooks: true })
  const receiver = await openReceiver(t)
  const standard = `whsec_${randomBytes(24).toString('base64')}`
  for (const secret of [OLD, standard, '!'.repeat(16), '~'.repeat(256)]) {
    const made = await ask('POST', '', { url: receiver.url, events, secret })
    t.match(made, { status: 201, body: { secret } })
    t.equal((await ask('GET', `/${made.body.id}`)).body.secret, secret)
    t.notOk('secret' in (await ask('GET', '')).body[0])
    const audited = await app.svc.audit.list({ target: made.body.id })
    t.notMatch(JSON.stringify(audited), secret)

    const before = receiver.received.length
    await app.svc.webhooks.test(made.body.id)
    const request = (await receiver.waitFor(before + 1))[before]!
    const { 'x-svc-timestamp': timestamp, 'x-svc-signature': signature } = request.headers
    const hmac = createHmac('sha256', secret).update(`${timestamp}.${request.raw}`).digest('hex')
    t.equal(signature, `sha256=${hmac}`)
    t.ok(opens(request, secret))
    const key = secret === standard ? secret : Buffer.from(secret).toString('base64')
    t.ok(new Webhook(key).verify(request.raw, request.headers as Record<string, string>))
  }
})

t.test('a rotation takes a given secret too, and both sign for a while', async (t) => {
  const { app, ask, register } = await startHost(t)
  const receiver = await openReceiver(t)
  const { id, secret: first } = await register(receiver.url)
  const rotated = await ask('POST', `/${id}/rotate-secret`, { secret: OLD, overlapSeconds: 600 })
  t.match(rotated, { status: 200, body: { id, secret: OLD } })
  const sent = async () => {
    const { length } = receiver.received
    await app.svc.events.publish('order.created', {})
    return (await receiver.waitFor(length + 1))[length]!
  }
  for (const secret of [OLD, first]) t.ok(opens(await sent(), secret))

  // As a client does that has got no answer.
  const again = await ask('POST', `/${id}/rotate-secret`, { secret: OLD, overlapSeconds: 600 })
  t.equal(again.body.secret, OLD)
  t.notOk((await sent()).headers['webhook-signature'], 'it signs once: there are two secrets')
  t.ok(opens(await sent(), first))

  t.equal((await app.svc.webhooks.rotateSecret({ id, secret: first })).secret, first)
  const request = await sent()
  for (const secret of [OLD, first]) t.ok(opens(request, secret))
  t.notOk(request.headers['webhook-signature'], 'back to the one before')
  await app.svc.webhooks.rotateSecret({ id, secret: first, overlapSeconds: 0 })
  t.notOk((await sent()).headers['x-svc-signature-previous'])
})

t.test('what is no secret is a 400 that names the field, and nothing changes', async (t) => {
  const { app, ask, register } = await startHost(t)
  const { id, secret: kept } = await register(url)
  const whsec = (bytes: number) => `whsec_${Buffer.alloc(bytes, 0xff).toString('base64')}`
  const cases: [unknown, string][] = [
    ['x'.repeat(15), 'SVC_INVALID_INPUT'],
    ['x'.repeat(257), 'SVC_INVALID_INPUT'],
    ['', 'SVC_INVALID_INPUT'],
    ['with a blank in between', 'SVC_INVALID_INPUT'],
    ['x'.repeat(20) + '\n', 'SVC_INVALID_INPUT'],
    ['x'.repeat(20) + '\u007f', 'SVC_INVALID_INPUT'],
    ['ü'.repeat(20), 'SVC_INVALID_INPUT'],
    [null, 'SVC_INVALID_INPUT'],
    [1234567890123456, 'SVC_INVALID_INPUT'],
    [[OLD], 'SVC_INVALID_INPUT'],
    [whsec(15), 'SVC_WEBHOOKS_SECRET_REFUSED'],
    [whsec(16).replaceAll('=', ''), 'SVC_WEBHOOKS_SECRET_REFUSED'],
    [whsec(33).replaceAll('/', '_'), 'SVC_WEBHOOKS_SECRET_REFUSED'],
    [`${whsec(33)}!`, 'SVC_WEBHOOKS_SECRET_REFUSED'],
    ['whsec_not-base64-at-all-but-long-enough', 'SVC_WEBHOOKS_SECRET_REFUSED'],
    [`whpk_${Buffer.alloc(32).toString('base64')}`, 'SVC_WEBHOOKS_SECRET_REFUSED'],
    ['svcenc:v1:0123456789ab:AAAA', 'SVC_WEBHOOKS_SECRET_REFUSED'],
  ]
  for (const [secret, code] of cases) {
    const refused = { status: 400, body: { code, message: /secret/ } }
    const told = JSON.stringify(secret)
    const made = await ask('POST', '', { url, events, secret })
    t.match(made, refused, told)
    t.match(await ask('POST', `/${id}/rotate-secret`, { secret }), refused, told)
    if (typeof secret === 'string' && secret !== '') t.notOk(made.body.message.includes(secret))
    await t.rejects(app.svc.webhooks.register({ url, events, secret: secret as string }), { code })
  }
  t.match(await ask('PATCH', `/${id}`, { secret: OLD }), { status: 400 })
  t.equal((await app.svc.webhooks.get(id)).secret, kept)
  t.equal((await app.svc.webhooks.list()).length, 1)
  t.match(await ask('POST', '', { url, events, secret: whsec(16) }), { status: 201 })
})
