import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { verifyDelivery } from '@svc/webhooks/receiver'
import { advance, type ReceivedRequest } from '@svc/testing'
import { openReceiver } from '../../support/receiver.ts'
import { startHost } from '../support/host.ts'

const opens = ({ headers, raw: body }: ReceivedRequest, secret: string): boolean => {
  try {
    verifyDelivery({ headers, body, secret })
    return true
  } catch {
    return false
  }
}

const opensStandard = ({ headers, raw: body }: ReceivedRequest, secret: string): boolean => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

t.test('after a rotation both secrets sign for a while', async (t) => {
  const { ask, register, app } = await startHost(t, { standardWebhooks: true })
  const receiver = await openReceiver(t)
  const { id, secret: old, updatedAt } = await register(receiver.url)

  const { status, body } = await ask('POST', `/${id}/rotate-secret`)
  t.equal(status, 200)
  t.not(body.secret, old)
  t.match(body.secret, /^whsec_/)
  t.ok(body.updatedAt > updatedAt)
  t.same((await ask('GET', `/${id}`)).body, body)
  await app.svc.events.publish('order.created', { n: 1 })

  const [request] = await receiver.waitFor(1)
  t.match(request!.headers['x-svc-signature'], /^sha256=[0-9a-f]{64}$/)
  t.match(request!.headers['x-svc-signature-previous'], /^sha256=[0-9a-f]{64}$/)
  t.match(request!.headers['webhook-signature'], /^v1,\S+ v1,\S+$/)
  for (const secret of [old, body.secret]) {
    t.ok(opens(request!, secret))
    t.ok(opensStandard(request!, secret))
  }
})

t.test('with an overlap of none, and after the overlap, only the new secret signs', async (t) => {
  const { ask, register, app } = await startHost(t, { standardWebhooks: true })
  const receiver = await openReceiver(t)
  const { id, secret: old } = await register(receiver.url)
  const rotated = await ask('POST', `/${id}/rotate-secret`, { overlapSeconds: 0 })
  await app.svc.events.publish('order.created', {})
  const [request] = await receiver.waitFor(1)
  t.notOk(request!.headers['x-svc-signature-previous'])
  t.notOk(opens(request!, old))
  t.notOk(opensStandard(request!, old))
  t.ok(opens(request!, rotated.body.secret))

  const again = await app.svc.actions.call('__svc.webhooks.rotateSecret', {
    id,
    overlapSeconds: 60,
  })
  await advance(app, 61)
  await app.svc.events.publish('order.created', {})
  const [, later] = await receiver.waitFor(2)
  t.notOk(opens(later!, rotated.body.secret))
  t.ok(opens(later!, again.secret))
})

t.test('a secret signs until its own overlap ends, however often it is rotated', async (t) => {
  const { register, app } = await startHost(t)
  const receiver = await openReceiver(t)
  const { id, secret: first } = await register(receiver.url)
  const rotate = async (overlapSeconds: number) =>
    (await app.svc.webhooks.rotateSecret({ id, overlapSeconds })).secret
  const all = [first, await rotate(1000), await rotate(50), await rotate(500)]
  const sent = async () => {
    const { length } = receiver.received
    await app.svc.events.publish('order.created', {})
    return (await receiver.waitFor(length + 1))[length]!
  }
  const valid = async () => {
    const request = await sent()
    return all.map((secret) => opens(request, secret))
  }

  t.same(await valid(), [true, true, true, true], 'all of them')
  const [request] = receiver.received
  const previous = createHmac('sha256', all[2]!)
    .update(`${request!.headers['x-svc-timestamp']}.${request!.raw}`)
    .digest('hex')
  t.equal(request!.headers['x-svc-signature-previous'], `sha256=${previous}`, 'the one before')
  t.match(request!.headers['webhook-signature'], /^v1,\S+( v1,\S+){3}$/)
  for (const secret of all) t.ok(opensStandard(request!, secret))

  await advance(app, 51)
  t.same(await valid(), [true, false, true, true])
  await advance(app, 500)
  t.same(await valid(), [true, false, false, true])
  await advance(app, 500)
  t.same(await valid(), [false, false, false, true])
  t.notOk((await sent()).headers['x-svc-signature-previous'])

  all.push(await rotate(1000), await rotate(0))
  t.same(await valid(), [false, false, false, false, false, true], 'no overlap ends them all')
})

t.test('a webhook has five secrets at most that sign', async (t) => {
  const { ask, register, app } = await startHost(t)
  const receiver = await openReceiver(t)
  const { id, secret } = await register(receiver.url)
  const rotate = (overlapSeconds: number) => ask('POST', `/${id}/rotate-secret`, { overlapSeconds })
  for (const overlapSeconds of [3000, 100, 3000, 3000]) {
    t.equal((await rotate(overlapSeconds)).status, 200)
  }
  const refused = await rotate(60)
  t.match(refused, { status: 409, body: { code: 'SVC_WEBHOOKS_TOO_MANY_SECRETS' } })
  t.match(refused.body.message, /has 5 secrets.*after \d{4}-.*Z.*overlapSeconds 0/)
  await app.svc.events.publish('order.created', {})
  const [request] = await receiver.waitFor(1)
  t.ok(opens(request!, secret), 'the refused one has changed nothing')

  await advance(app, 101)
  t.equal((await rotate(60)).status, 200, 'one of them has ended')
  t.equal((await rotate(60)).status, 409)
  t.equal((await rotate(0)).status, 200)
  t.equal((await rotate(60)).status, 200)
})

t.test('rotations at the same time lose no secret', async (t) => {
  const { register, app } = await startHost(t)
  const receiver = await openReceiver(t)
  const { id, secret } = await register(receiver.url)
  const made = await Promise.all([1, 2, 3].map(() => app.svc.webhooks.rotateSecret({ id })))
  await app.svc.events.publish('order.created', {})
  const [request] = await receiver.waitFor(1)
  for (const one of [secret, ...made.map((rotated) => rotated.secret)]) t.ok(opens(request!, one))
})

t.test('a wrong overlap is a 400', async (t) => {
  const { ask, register } = await startHost(t)
  const { id, secret } = await register('https://receiver.example/')
  for (const body of [
    { overlapSeconds: -1 },
    { overlapSeconds: 1.5 },
    { overlapSeconds: '60' },
    { overlap: 1 },
    [],
  ]) {
    t.equal((await ask('POST', `/${id}/rotate-secret`, body)).status, 400, JSON.stringify(body))
  }
  t.equal((await ask('GET', `/${id}`)).body.secret, secret)
})

t.test('the official library of Standard Webhooks verifies our deliveries', async (t) => {
  const { register, app } = await startHost(t, { standardWebhooks: true })
  const receiver = await openReceiver(t)
  const { secret } = await register(receiver.url)
  await app.svc.events.publish('order.created', { text: 'żółć 😀' })
  const [request] = await receiver.waitFor(1)
  const verified = new Webhook(secret).verify(
    request!.raw,
    request!.headers as Record<string, string>,
  )
  t.match(verified, { event: 'order.created', payload: { text: 'żółć 😀' } })
  t.equal(request!.headers['webhook-id'], request!.headers['x-svc-delivery-id'])
  t.equal(request!.headers['webhook-timestamp'], request!.headers['x-svc-timestamp'])
})
