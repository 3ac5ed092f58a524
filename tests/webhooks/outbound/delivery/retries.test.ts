// promise: A failed delivery is tried again by its schedule, and becomes a dead letter after the last attempt
import { createServer } from 'node:net'
import t from 'tap'
import { openReceiver } from '../../../support/receiver.ts'
import { startHost } from '../../support/host.ts'
import { until, untilCount } from '../../../support/until.ts'
import { listening } from '../../../support/listening.ts'

t.test('a receiver that fails twice gets its delivery at the third attempt', async (t) => {
  const { app, ask, register } = await startHost(t)
  const receiver = await openReceiver(t, { answer: [500, 302, 200] })
  const { id } = await register(receiver.url)
  await app.svc.events.publish('order.created', { n: 1 })

  const log = await untilCount(3, async () => (await ask('GET', `/${id}/deliveries`)).body)
  t.match(log, [
    { attempt: 3, status: 'delivered', statusCode: 200, error: null },
    { attempt: 2, status: 'failed', statusCode: 302, error: 'redirect' },
    { attempt: 1, status: 'failed', statusCode: 500, error: 'http' },
  ])
  const sent = receiver.received.map(({ headers }) => headers)
  t.same(
    sent.map((headers) => headers['x-svc-attempt']),
    ['1', '2', '3'],
  )
  t.equal(new Set(sent.map((headers) => headers['x-svc-delivery-id'])).size, 1)
  t.equal(new Set(receiver.received.map(({ raw }) => raw)).size, 1)
})

t.test('a receiver that was down for a while gets all that was published meanwhile', async (t) => {
  const { app, ask, register } = await startHost(t, { core: { worker: { maxAttempts: 20 } } })
  const receiver = await openReceiver(t, { answer: 'reset' })
  const { id } = await register(receiver.url)
  for (let n = 0; n < 20; n++) await app.svc.events.publish('order.created', { n })
  await receiver.waitFor(20)
  receiver.answer(200)

  const list = async () => (await ask('GET', `/${id}/deliveries?status=delivered`)).body
  const delivered = await until(list, (rows) => rows.length === 20)
  const numbers = delivered.map((row: { payload: { n: number } }) => row.payload.n)
  t.same(
    numbers.toSorted((a: number, b: number) => a - b),
    [...Array(20).keys()],
  )
  const [failed] = (await ask('GET', `/${id}/deliveries?status=failed`)).body
  t.match(failed, { statusCode: null, error: 'reset', responseBody: null })
})

t.test('a receiver that closes each connection after its answer costs no attempt', async (t) => {
  const { app, register } = await startHost(t)
  let handled = 0
  const closing = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      handled++
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      // While the next request is on its way: what it sends then is not read.
      socket.once('data', () => socket.end())
    })
  })
  const port = await listening(t, closing)
  const { id } = await register(`http://127.0.0.1:${port}/`)
  await app.svc.webhooks.update({ id, ordered: true })
  for (let n = 0; n < 20; n++) await app.svc.events.publish('order.created', { n })
  const attempts = await until(
    () => app.svc.webhooks.listDeliveries({ webhookId: id }),
    (rows) => rows.length >= 20,
  )
  t.strictSame(
    attempts.map(({ status, attempt }) => [status, attempt]),
    attempts.map(() => ['delivered', 1]),
  )
  t.equal(handled, 20)
})

t.test(
  'Retry-After puts the next attempt off, in seconds and as a date, up to the longest delay',
  async (t) => {
    const { app, ask, register } = await startHost(t, {
      core: { worker: { retryDelayMaxSeconds: 600 } },
    })
    const date = new Date(Date.now() + 300_000).toUTCString()
    const cases: Record<string, [status: number, retryAfter: string, seconds: number]> = {
      '/seconds': [429, '120', 120],
      '/date': [503, date, 300],
      '/far': [503, '999999', 600],
      '/ignored': [500, '120', 1],
    }
    const receiver = await openReceiver(t, {
      answer({ url }) {
        const [status, retryAfter] = cases[url]!
        return { status, headers: { 'retry-after': retryAfter } }
      },
    })
    for (const [path, [status, , seconds]] of Object.entries(cases)) {
      const { id } = await register(new URL(path, receiver.url).href)
      const { deliveryId } = await app.svc.actions.call('__svc.webhooks.test', id)
      const [row] = await until(
        async () => (await ask('GET', `/${id}/deliveries?deliveryId=${deliveryId}`)).body,
        (rows) => rows.length > 0,
      )
      t.match(row, { status: 'failed', statusCode: status })
      const waits = (Date.parse(row.nextAttemptAt) - Date.parse(row.attemptedAt)) / 1000
      // On a busy machine seconds pass from the boot to the attempt, and during it.
      t.ok(Math.abs(waits - seconds) < 60, `${path}: ${waits} s`)
    }
  },
)

t.test('a delivery that cannot be made records why', async (t) => {
  const { app, ask, register } = await startHost(t, {
    allowedNetworks: ['127.0.0.2/32'],
    deliveryTimeoutMs: 60_000,
  })
  const silent = await openReceiver(t, { answer: 'timeout' })
  const urls = {
    blocked: silent.url.replace('127.0.0.1', 'localhost'),
    refused: 'http://127.0.0.2:1/',
    dns: 'http://nowhere.invalid/',
  }
  for (const [error, url] of Object.entries(urls)) {
    const { id } = await register(url)
    await app.svc.actions.call('__svc.webhooks.test', id)
    const [row] = await until(
      async () => (await ask('GET', `/${id}/deliveries`)).body,
      (rows) => rows.length > 0,
    )
    t.match(row, { event: 'webhook.test', status: 'failed', statusCode: null, error })
  }
  t.equal(silent.received.length, 0)
})

t.test('an answer that does not come in time is a timeout', async (t) => {
  const { app, ask, register } = await startHost(t, { deliveryTimeoutMs: 200 })
  const receiver = await openReceiver(t, { answer: 'timeout' })
  const { id } = await register(receiver.url)
  await app.svc.actions.call('__svc.webhooks.test', id)
  const [row] = await until(
    async () => (await ask('GET', `/${id}/deliveries`)).body,
    (rows) => rows.length > 0,
  )
  t.match(row, { error: 'timeout', statusCode: null })
  t.ok(row.durationMs >= 190)
})

t.test(
  'a webhook may have a schedule of its own, shorter or longer than that of the host',
  async (t) => {
    const { app, ask } = await startHost(t, { core: { worker: { maxAttempts: 2 } } })
    const receiver = await openReceiver(t, { answer: 500 })
    const register = async (path: string, retry: object) => {
      const { body } = await ask('POST', '', {
        url: new URL(path, receiver.url).href,
        events: ['order.created'],
        retry,
      })
      return body.id as string
    }
    const once = await register('/once', { maxAttempts: 1 })
    const thrice = await register('/thrice', { delaysSeconds: [1, 2] })
    await app.svc.events.publish('order.created', { n: 1 })
    const dead = async (id: string) => {
      const log = await until(
        async () => (await ask('GET', `/${id}/deliveries`)).body as { status: string }[],
        (rows) => rows.some(({ status }) => status === 'dead'),
      )
      return log.map(({ status }) => status)
    }
    t.strictSame(await dead(once), ['dead'])
    t.strictSame(await dead(thrice), ['dead', 'failed', 'failed'])
    const log = (await ask('GET', `/${thrice}/deliveries`)).body
    for (const [index, seconds] of [2, 1].entries()) {
      const { attemptedAt, nextAttemptAt } = log[index + 1]
      const waitMs = Date.parse(nextAttemptAt) - Date.parse(attemptedAt)
      t.ok(waitMs >= seconds * 900, `${waitMs} ms before the next`)
    }
    t.match((await ask('GET', `/${thrice}/dead-letters`)).body, [{ attempt: 3 }])
  },
)
