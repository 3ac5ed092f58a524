// promise: A second publish with the same name and id adds no event, and calls only subscriptions with `idempotent: false`
import t from 'tap'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'

t.test(
  'an event reaches its subscription with its name, its id and the time of its publish',
  async (t) => {
    const got: unknown[] = []
    const { app } = await startHost(t, {
      setUp: (app) =>
        app.svc.events.subscribe(
          'order.created',
          (payload, event) => void got.push([payload, event]),
        ),
    })
    const published = await app.svc.events.publish('order.created', { total: 12.5 }, { id: 'o-1' })
    await until(() => got.length === 1)

    t.strictSame(published, { id: 'o-1', duplicate: false })
    t.match(got, [
      [
        { total: 12.5 },
        { id: 'o-1', name: 'order.created', attempt: 1, publishedAt: Date, signal: AbortSignal },
      ],
    ])
  },
)

t.test('an event without an id is given a UUIDv7', async (t) => {
  const { app } = await startHost(t)
  const { id } = await app.svc.events.publish('a', null)
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
})

t.test(
  'a second publish of a name and id is a replay, which idempotent subscriptions are not called for',
  async (t) => {
    const got: string[] = []
    const { app } = await startHost(t, {
      async setUp({ svc }) {
        await svc.events.subscribe('a', () => void got.push('once'), { subscription: 'once' })
        await svc.events.subscribe('a', () => void got.push('each'), {
          subscription: 'each',
          idempotent: false,
        })
        await svc.events.subscribe('b', () => void got.push('other'))
      },
    })
    t.strictSame(await app.svc.events.publish('a', 1, { id: 'x' }), { id: 'x', duplicate: false })
    t.strictSame(await app.svc.events.publish('a', 2, { id: 'x' }), { id: 'x', duplicate: true })
    t.strictSame(
      await app.svc.events.publish('b', 3, { id: 'x' }),
      { id: 'x', duplicate: false },
      'the name counts too',
    )
    await until(() => got.length === 4)
    t.strictSame(got.toSorted(), ['each', 'each', 'once', 'other'])
  },
)

t.test('of many publishes of one event in two processes at once, one is the first', async (t) => {
  const got: unknown[] = []
  const one = await startHost(t, {
    setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void got.push(payload)),
  })
  const other = await startHost(t, { database: one.database, core: { worker: { enabled: false } } })
  const results = await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      (i % 2 ? one : other).app.svc.events.publish('a', i, { id: `id ${i % 5}` }),
    ),
  )
  t.equal(results.filter(({ duplicate }) => !duplicate).length, 5)
  await until(() => got.length === 5)
  await one.app.svc.events.publish('a', 'last')
  await until(() => got.includes('last'))
  t.equal(got.length, 6)
})

t.test(
  'a process that only has core queues the jobs of subscriptions that others declared',
  async (t) => {
    const { app, database } = await startHost(t, { core: { worker: { enabled: false } } })
    const got: unknown[] = []
    await startHost(t, {
      database,
      setUp: ({ svc }) => svc.events.subscribe('a', (payload) => void got.push(payload)),
    })
    await app.svc.events.publish('a', 'from afar')
    await until(() => got.length === 1)
    t.strictSame(got, ['from afar'])
  },
)

t.test('a payload is kept as the JSON text that was published', async (t) => {
  const texts: string[] = []
  const { core, app } = await startHost(t, {
    setUp: ({ svc }) =>
      svc.events.subscribe('a', (payload) => void texts.push(JSON.stringify(payload))),
  })
  await core.bus.publish([
    { name: 'a', payload: '{"b":1.0,"a":12345678901234567890,"é":"\\u0000"}', id: '1' },
  ])
  const { rows } = await app.svc.database.query(`select payload from svc."__svc.events"`)
  t.strictSame(rows, [{ payload: '{"b":1.0,"a":12345678901234567890,"é":"\\u0000"}' }])
  await until(() => texts.length === 1)
})

const CYCLE: unknown[] = []
CYCLE.push(CYCLE)
const refused: [
  title: string,
  args: [name: unknown, payload: unknown, options?: unknown],
  code: string,
  message: RegExp,
][] = [
  ['a name with a blank', ['a b', 1], 'INVALID_EVENT_NAME', /got "a b"$/],
  ['no name', [undefined, 1], 'INVALID_EVENT_NAME', /got undefined$/],
  ['a name that is too long', ['a'.repeat(201), 1], 'INVALID_EVENT_NAME', /1 to 200/],
  ['an empty id', ['a', 1, { id: '' }], 'INVALID_EVENT_ID', /got a string of 0 characters$/],
  [
    'an id that is too long',
    ['a', 1, { id: 'x'.repeat(256) }],
    'INVALID_EVENT_ID',
    /got a string of 256 characters$/,
  ],
  ['an id with NUL', ['a', 1, { id: '\0' }], 'INVALID_EVENT_ID', /got a string of 1 characters$/],
  [
    'an id with half a surrogate pair',
    ['a', 1, { id: '\ud800' }],
    'INVALID_EVENT_ID',
    /got a string of 1 characters$/,
  ],
  ['a number as id', ['a', 1, { id: 5 }], 'INVALID_EVENT_ID', /got 5$/],
  [
    'a misspelt option',
    ['a', 1, { ID: 'x' }],
    'INVALID_OPTION',
    /no option "ID"; there are: id, db, tenant, before$/,
  ],
  ['nothing as payload', ['a', undefined], 'INVALID_PAYLOAD', /got undefined$/],
  ['a function as payload', ['a', () => {}], 'INVALID_PAYLOAD', /got a function$/],
  ['a bigint as payload', ['a', 5n], 'INVALID_PAYLOAD', /BigInt/],
  ['a cycle as payload', ['a', CYCLE], 'INVALID_PAYLOAD', /circular/],
  [
    'a name of ours',
    ['svc.key.created', 1],
    'RESERVED_EVENT_NAME',
    /give "svc.key.created" another/,
  ],
  ['a wrong tenant', ['a', 1, { tenant: 'a b' }], 'INVALID_OPTION', /"tenant" must be/],
]
t.test('an event with a wrong name, id, payload or option is refused', async (t) => {
  const { app } = await startHost(t)
  for (const [title, args, code, message] of refused) {
    const publish = app.svc.events.publish.bind(app.svc.events) as (
      ...args: unknown[]
    ) => Promise<unknown>
    await t.rejects(publish(...args), { code: `SVC_CORE_${code}`, statusCode: 500, message }, title)
  }
})

t.test('the longest names and ids, and any text in them, come back as they were', async (t) => {
  const { app } = await startHost(t)
  const name = 'A-z_0.9/'.repeat(25)
  for (const id of ['é'.repeat(255), '🙂', "'; drop table x; --", '%s', ' a ', '\n']) {
    t.strictSame(await app.svc.events.publish(name, id, { id }), { id, duplicate: false })
    t.strictSame(await app.svc.events.publish(name, id, { id }), { id, duplicate: true })
  }
})
