// promise: Both plugins work whatever the default isolation level of the database is, and whatever parsers the host has set in `pg`
import pg from 'pg'
import t from 'tap'
import { openReceiver } from '../support/receiver.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { until, untilCount } from '../support/until.ts'
import { wholeHost } from '../support/whole-host.ts'

t.test('both plugins work where the pool of the host reads every type as text', async (t) => {
  const types = { getTypeParser: () => (text: unknown) => text } as unknown as pg.CustomTypesConfig
  const pool = new pg.Pool({ connectionString: await freshDatabase(t), max: 5, types })
  t.teardown(() => pool.end())
  const seen = await pool.query(`select true as a, '{"b": 1}'::jsonb as b, '{c}'::text[] as c`)
  t.same(seen.rows, [{ a: 't', b: '{"b": 1}', c: '{c}' }])

  const app = await wholeHost(t, {
    database: pool,
    worker: { retryDelaySeconds: 0, maxAttempts: 2, retryBackoff: false },
  })
  app.get('/me', async (request) => request.auth?.keyId)
  const attempts: number[] = []
  await app.svc.events.subscribe('order.created', (_order, { attempt }) => {
    attempts.push(attempt)
    if (attempt === 1) throw new Error('the first attempt fails')
  })
  await app.ready()
  const { events, webhooks, auth, kv } = app.svc

  const receiver = await openReceiver(t, { answer: [500, 500, 200] })
  const { id } = await webhooks.register({
    url: receiver.url,
    events: ['order.created'],
    metadata: { team: 'a' },
    filter: { 'payload.total': { $gt: 5 } },
  })
  t.match(await webhooks.get(id), {
    metadata: { team: 'a' },
    filter: { 'payload.total': { $gt: 5 } },
  })
  await events.publish('order.created', { total: 1 })
  await events.publish('order.created', { total: 7, lines: [1, 2] })
  await until(() => attempts.length === 4)
  t.same(attempts.toSorted(), [1, 1, 2, 2])
  const [letter] = await untilCount(1, () => webhooks.listDeadLetters({ webhookId: id }))
  t.match(letter, { payload: { total: 7, lines: [1, 2] } })
  await webhooks.redrive({ id })
  const [, , redriven] = await receiver.waitFor(3)
  t.match(redriven?.body, { payload: { total: 7 } })
  const deliveries = await untilCount(3, () => webhooks.listDeliveries({ webhookId: id }))
  t.same(
    deliveries.map(({ status }) => status),
    ['delivered', 'dead', 'failed'],
  )

  const user = await auth.createUser({ email: 'a@example.com', name: 'A' })
  const made = await auth.createApiKey({
    userId: user.id,
    scopes: ['read'],
    metadata: { plan: 'free' },
    limits: [{ limit: 2, perSeconds: 3600 }],
  })
  const statusOf = async () =>
    (await app.inject({ url: '/me', headers: { authorization: `Bearer ${made.key}` } })).statusCode
  t.same([await statusOf(), await statusOf(), await statusOf()], [200, 200, 429])
  t.match(await auth.updateApiKey({ id: made.id, enabled: false }), { enabled: false })
  t.match(await auth.getApiKey(made.id), { metadata: { plan: 'free' }, enabled: false })
  await kv.set('a', { b: [1] })
  t.same(await kv.get('a'), { b: [1] })
})
