/** Redeliveries to another address than that of the webhook. */
import t, { type Test } from 'tap'
import { verifyDelivery } from '@svc/receiver'
import type { ReceivedRequest } from '@svc/testing'
import { openReceiver } from '../../../support/receiver.ts'
import { until } from '../../../support/until.ts'
import { startHost } from '../../support/host.ts'

interface Row {
  deliveryId: string
  status: string
  url?: string
}

/** A webhook that keeps its order, with a delivery that its receiver has not taken. */
async function startFailing(t: Test) {
  const host = await startHost(t, {
    deactivateOnGone: true,
    core: { worker: { maxAttempts: 1, retryDelaySeconds: 0 } },
    autoDisable: { failingForSeconds: 3600 },
  })
  const own = await openReceiver(t, { answer: 503 })
  const webhook = await host.app.svc.webhooks.register({
    url: own.url,
    events: ['*'],
    headers: { Authorization: 'Bearer of the receiver' },
    ordered: true,
  })
  await host.app.svc.events.publish('order.created', { n: 1 })
  const log = async (): Promise<Row[]> => (await host.ask('GET', `/${webhook.id}/deliveries`)).body
  const [dead] = await until(log, (rows) => rows[0]?.status === 'dead')
  const redeliver = (body: object) =>
    host.ask('POST', `/${webhook.id}/deliveries/${dead!.deliveryId}/redeliver`, body)
  const shown = () => host.app.svc.webhooks.get(webhook.id)
  await until(shown, ({ failingSince }) => failingSince !== null)
  return { ...host, own, webhook, log, redeliver, shown }
}

t.test('a delivery goes to another address, signed, though its webhook is paused', async (t) => {
  const { app, own, webhook, log, redeliver, shown } = await startFailing(t)
  const { id, secret } = webhook
  await app.svc.webhooks.update({ id, active: false })
  const other = await openReceiver(t)
  const answer = await redeliver({ url: other.url })
  t.equal(answer.status, 202)
  const [{ headers, raw }] = (await other.waitFor(1)) as [ReceivedRequest]
  t.match(verifyDelivery({ headers, body: Buffer.from(raw), secret }), { payload: { n: 1 } })
  t.equal(headers.authorization, 'Bearer of the receiver', 'sent with each attempt')

  const rows = await until(log, (found) => found.length === 2)
  t.match(rows, [
    { deliveryId: answer.body.deliveryId, status: 'delivered', url: other.url },
    { status: 'dead' },
  ])
  t.notOk('url' in rows[1]!)
  t.match(await shown(), { active: false, lastSuccessAt: null, url: own.url })
  const [audited] = await app.svc.audit.list({ target: id, action: 'webhook.redeliver' })
  t.match(audited?.changes, { url: { from: null, to: other.url } })
})

t.test('failures at another address do not change the webhook’s health', async (t) => {
  const { app, own, webhook, log, redeliver, shown } = await startFailing(t)
  const before = await shown()
  // Ten failures would open the circuit of a receiver, and a 410 would pause the webhook.
  const gone = await openReceiver(t, { answer: 410 })
  for (let n = 0; n < 12; n++) t.equal((await redeliver({ url: gone.url })).status, 202)
  await until(log, (rows) => rows.filter(({ status }) => status === 'dead').length === 13)
  t.same(await shown(), before)

  const letters = await app.svc.webhooks.listDeadLetters(webhook.id)
  t.equal(letters.filter(({ url }) => url === gone.url).length, 12)
  t.same(await app.svc.webhooks.redrive(webhook.id), { redriven: 13 })
  await gone.waitFor(24)
  await own.waitFor(2)
  await app.svc.events.publish('order.created', { n: 2 })
  await own.waitFor(3)
})

t.test('an ordered webhook does not wait for an answer from another address', async (t) => {
  const { app, own, redeliver } = await startFailing(t)
  const silent = await openReceiver(t, { answer: 'timeout' })
  await redeliver({ url: silent.url })
  await silent.waitFor(1)
  await app.svc.events.publish('order.created', { n: 2 })
  await own.waitFor(2)
})

t.test('another address is judged as that of a webhook is', async (t) => {
  const { app, log, redeliver, webhook } = await startFailing(t)
  for (const url of [
    'http://169.254.169.254/',
    'ftp://example.com/',
    'http://a:b@example.com/',
    'https://example.com/\ud800',
  ]) {
    t.match(await redeliver({ url }), { status: 400, body: { code: 'SVC_WEBHOOKS_URL_REFUSED' } })
  }
  t.match(await redeliver({ url: 7 }), { status: 400, body: { code: 'SVC_INVALID_INPUT' } })
  const [dead] = await log()
  const redelivery = { webhookId: webhook.id, deliveryId: dead!.deliveryId }
  await t.rejects(
    app.svc.webhooks.as({ tenant: 'acme' }).redeliver({ ...redelivery, url: 'https://a.test/' }),
    { code: 'SVC_WEBHOOKS_NOT_FOUND' },
    'the webhook is not of this tenant',
  )
  // A name is judged when it is resolved.
  const { port } = new URL(webhook.url ?? '')
  await app.svc.webhooks.redeliver({ ...redelivery, url: `http://0x7f.1:${port}/hook` })
  await until(log, (rows) => rows.length === 2)
})
