import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'
import { startProxy } from './connect-proxy.ts'

const secrets = (name: string) => (name === 'PROXY_LOGIN' ? 'svc:p@ss:word' : undefined)

t.test('deliveries leave through the proxy, with its credentials', async (t) => {
  const proxy = await startProxy(t)
  const { app, register } = await startHost(t, {
    proxy: { url: proxy.url, secretName: 'PROXY_LOGIN' },
    core: { secrets },
  })
  const receiver = await openReceiver(t)
  await register(receiver.url)
  await app.svc.events.publish('order.created', { n: 1 })
  await receiver.waitFor(1)
  const authorization = `Basic ${Buffer.from('svc:p@ss:word').toString('base64')}`
  t.strictSame(proxy.asked, [{ target: new URL(receiver.url).host, authorization }])
})

t.test(
  'a failure of the proxy is recorded, and counts neither for the delivery nor for the webhook',
  async (t) => {
    const proxy = await startProxy(t)
    proxy.answer = () => 502
    const { app, ask, register } = await startHost(t, {
      proxy: { url: proxy.url },
      autoDisable: { failingForSeconds: 0.1, minAttempts: 1 },
      core: { worker: { maxAttempts: 1 } },
    })
    const receiver = await openReceiver(t)
    const { id } = await register(receiver.url)
    await app.svc.events.publish('order.created', { n: 1 })
    const deliveries = async () => (await ask('GET', `/${id}/deliveries`)).body
    const rows = await until(deliveries, (found) => found.length >= 2)
    t.match(rows[0], { status: 'failed', error: 'proxy', statusCode: null, attempt: 1 })
    t.match(rows[1], { status: 'failed', error: 'proxy', attempt: 1 })
    t.ok(rows[0].nextAttemptAt > rows[0].attemptedAt)
    t.match((await ask('GET', `/${id}`)).body, { active: true, failingSince: null, waiting: 1 })

    proxy.answer = () => 200
    await receiver.waitFor(1)
    const [last] = await until(deliveries, (found) => found[0].status === 'delivered')
    t.equal(last.attempt, 1)
  },
)

t.test(
  'after a week without a tunnel a delivery uses up the attempts of its webhook',
  async (t) => {
    const proxy = await startProxy(t)
    proxy.answer = () => 502
    const { app, ask } = await startHost(t, {
      proxy: { url: proxy.url },
      core: { worker: { maxAttempts: 5 } },
    })
    const receiver = await openReceiver(t)
    const retry = { maxAttempts: 1 }
    const input = { url: receiver.url, events: ['order.created'], retry }
    const { id } = await app.svc.webhooks.register(input)
    await app.svc.events.publish('order.created', { n: 1 })
    const deliveries = async () => (await ask('GET', `/${id}/deliveries`)).body
    await until(deliveries, ([row]) => row?.status === 'failed')
    await until(async () => {
      await app.svc.database.query(
        `update svc_jobs.job
            set start_after = now(),
                data = data || jsonb_build_object('unsentSince', now() - interval '8 days')
          where data ->> 'recipient' = $1 and state < 'active'`,
        [id],
      )
      return (await deliveries())[0].status === 'dead'
    })
    const [letter] = await app.svc.webhooks.listDeadLetters(id)
    t.match(letter, { error: 'proxy', statusCode: null, attempt: 1 })
    t.match(await app.svc.webhooks.get(id), { failingSince: null, active: true })
  },
)

t.test('a proxy that fails for a moment uses up no attempt of an old delivery', async (t) => {
  const proxy = await startProxy(t)
  proxy.answer = () => 502
  const { app, ask, register } = await startHost(t, {
    proxy: { url: proxy.url },
    core: { worker: { maxAttempts: 1 } },
  })
  const receiver = await openReceiver(t)
  const { id } = await register(receiver.url)
  await app.svc.events.publish('order.created', { n: 1 })
  const deliveries = async () => (await ask('GET', `/${id}/deliveries`)).body
  await until(deliveries, ({ length }) => length > 0)
  const { rows } = await app.svc.database.query(
    `update svc_jobs.job set created_on = now() - interval '8 days', start_after = now()
      where data ->> 'recipient' = $1 returning id`,
    [id],
  )
  t.equal(rows.length, 1)
  const tried = await until(deliveries, ({ length }) => length > 2)
  for (const row of tried) t.match(row, { status: 'failed', error: 'proxy', attempt: 1 })
  proxy.answer = () => 200
  await receiver.waitFor(1)
})

t.test('a proxy without its credentials is an error at boot', async (t) => {
  const url = 'http://127.0.0.1:3128'
  const cases = [
    [
      { url, secretName: 'MISSING' },
      /"MISSING" of the option "proxy" must be user:password, but it is not set/,
    ],
    [
      { url, secretName: 'ODD' },
      /"ODD" of the option "proxy" must be user:password, but it is another text/,
    ],
    [{ url: 'http://user:pass@127.0.0.1:3128' }, /"proxy\.url" must be a URL such as/],
    [{ url: 'socks5://127.0.0.1' }, /"proxy\.url" must be a URL such as/],
    [{}, /"proxy\.url" is missing/],
  ] as const
  for (const [proxy, message] of cases) {
    const core = { secrets: (name: string) => (name === 'ODD' ? 'no-colon' : undefined) }
    await t.rejects(startHost(t, { proxy: proxy as never, core }), message)
  }
})
