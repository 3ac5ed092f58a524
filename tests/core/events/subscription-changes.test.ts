import t, { type Test } from 'tap'
import { startHost, type Host } from '../support/host.ts'
import { until } from '../../support/until.ts'

/** The rows of the host's own subscriptions: the template knows the plugins as well. */
const rowsOf = async ({ app }: Host) => {
  const { rows } = await app.svc.database.query(
    `select event_name as event, subscription from svc."__svc.subscriptions"
      where not starts_with(subscription, '__svc.') order by 1, 2`,
  )
  return rows
}

/** A process whose one subscription, `mail`, wants this event. */
async function version(t: Test, database: string | undefined, event: string, got: unknown[]) {
  return startHost(t, {
    ...(database === undefined ? {} : { database }),
    setUp: ({ svc }) =>
      svc.events.subscribe(event, (payload, { name }) => void got.push([name, payload]), {
        subscription: 'mail',
      }),
  })
}

t.test('a subscription that moves to another event keeps what waits for it', async (t) => {
  const got: unknown[] = []
  const old = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: ({ svc }) => svc.events.subscribe('order.made', () => {}, { subscription: 'mail' }),
  })
  await old.app.svc.events.publish('order.made', 'waits')
  await old.app.close()
  const next = await version(t, old.database, 'order.created', got)
  t.strictSame(await rowsOf(next), [{ event: 'order.created', subscription: 'mail' }])
  await next.app.svc.events.publish('order.made', 'nobody wants it')
  await next.app.svc.events.publish('order.created', 'new')
  await until(() => got.length === 2)
  t.same(new Set(got.map(String)), new Set(['order.made,waits', 'order.created,new']))
})

t.test(
  'a subscription keeps its former event while a process of the old version lives',
  async (t) => {
    const both = [
      { event: 'order.created', subscription: 'mail' },
      { event: 'order.made', subscription: 'mail' },
    ]
    const got: unknown[] = []
    const old = await version(t, undefined, 'order.made', got)
    const next = await version(t, old.database, 'order.created', got)
    t.strictSame(await rowsOf(next), both)
    await old.app.svc.events.publish('order.made', 'old')
    await until(() => got.length === 1)

    await old.app.close()
    const later = await version(t, old.database, 'order.created', got)
    t.strictSame(await rowsOf(later), [{ event: 'order.created', subscription: 'mail' }])
  },
)

t.test('a subscription that is made while the host runs moves at once', async (t) => {
  const host = await version(t, undefined, 'order.made', [])
  await host.app.svc.events.unsubscribe('mail')
  await host.app.svc.events.subscribe('order.created', () => {}, { subscription: 'mail' })
  t.strictSame(await rowsOf(host), [{ event: 'order.created', subscription: 'mail' }])
})

t.test('a subscription that no process has keeps its queue', async (t) => {
  const old = await version(t, undefined, 'order.made', [])
  await old.app.close()
  const { rows } = await (
    await startHost(t, { database: old.database })
  ).app.svc.database.query(
    `update svc."__svc.processes" set renewed_at = now() - interval '1 year', closed_at = now() - interval '1 year'
     returning id`,
  )
  t.ok(rows.length > 1)
  const other = await startHost(t, {
    database: old.database,
    setUp: ({ svc }) => svc.events.subscribe('a', () => {}),
  })
  t.strictSame(await rowsOf(other), [
    { event: 'a', subscription: 'a' },
    { event: 'order.made', subscription: 'mail' },
  ])
})

t.test('an event reaches one of the processes that have the subscription', async (t) => {
  const got: [string[], string[]] = [[], []]
  const one = await version(t, undefined, 'a', got[0])
  await version(t, one.database, 'a', got[1])
  const all = Array.from({ length: 200 }, (_, i) => i)
  await Promise.all(all.map((i) => one.app.svc.events.publish('a', i)))
  await until(() => got.flat().length >= 200)
  await one.app.close()
  t.strictSame(
    got
      .flat()
      .map(([, payload]) => payload)
      .toSorted((a, b) => Number(a) - Number(b)),
    all,
  )
})

t.test('a retired subscription gets no event any more, in any process', async (t) => {
  const got: unknown[] = []
  const one = await version(t, undefined, 'a', got)
  const other = await version(t, one.database, 'a', got)
  await one.app.svc.events.subscribe('a', (payload) => void got.push(['kept', payload]))

  await one.app.svc.events.unsubscribe('mail')

  t.strictSame(await rowsOf(one), [{ event: 'a', subscription: 'a' }])
  await other.app.svc.events.publish('a', 1)
  await until(() => got.length === 1)
  t.strictSame(got, [['kept', 1]])
  await t.resolves(
    one.app.svc.events.subscribe('a', () => {}, { subscription: 'mail' }),
    'its name is free again',
  )
  await t.resolves(one.app.svc.events.unsubscribe('never.was'))
})

t.test('jobs that waited for a retired subscription are deleted', async (t) => {
  const host = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: ({ svc }) => svc.events.subscribe('a', () => {}),
  })
  await host.app.svc.events.publish('a', 1)
  await host.app.svc.events.unsubscribe('a')
  const { rowCount } = await host.app.svc.database.query('select from svc_jobs.job')
  t.equal(rowCount, 0)
})

t.test('a subscription made while the host runs gets what is published from then on', async (t) => {
  const got: unknown[] = []
  const { app } = await startHost(t)
  await app.svc.events.publish('a', 'before')
  await app.svc.events.subscribe('a', (payload) => void got.push(payload))
  await app.svc.events.publish('a', 'after')
  await until(() => got.length === 1)
  t.strictSame(got, ['after'])
})

t.test(
  'events are published to all that were subscribed before, also while the host boots',
  async (t) => {
    const got: unknown[] = []
    await startHost(t, {
      async setUp({ svc }) {
        await svc.events.subscribe('a', (payload) => void got.push(payload))
        await svc.events.publish('a', 'early')
      },
    })
    await until(() => got.length === 1)
    t.strictSame(got, ['early'])
  },
)

t.test('subscriptions that could not be written are written with the next publish', async (t) => {
  const got: unknown[] = []
  await startHost(t, {
    async setUp({ svc }) {
      await svc.database.query('alter table svc."__svc.subscriptions" rename to away')
      await svc.events.subscribe('a', (payload) => void got.push(payload))
      await t.rejects(svc.events.publish('a', 'lost'), { code: 'SVC_CORE_DATABASE_FAILED' })
      await svc.database.query('alter table svc.away rename to "__svc.subscriptions"')
      await svc.events.publish('a', 'found')
    },
  })
  await until(() => got.length === 1)
  t.strictSame(got, ['found'])
})

t.test(
  'subscribe can be called again after it has failed, and takes no other with it',
  async (t) => {
    const got: unknown[] = []
    const { app } = await startHost(t)
    const { events, database } = app.svc
    const subscribe = (name: string) =>
      events.subscribe(name, (payload) => void got.push([name, payload]))
    await database.query('alter table svc."__svc.subscriptions" rename to away')
    const failed = await Promise.allSettled(['a', 'b'].map(subscribe))
    t.strictSame(
      failed.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    await database.query('alter table svc.away rename to "__svc.subscriptions"')
    for (const name of ['b', 'a']) {
      await subscribe(name)
      await events.publish(name, 1)
      await until(() => got.length > 0)
      t.strictSame(got.splice(0), [[name, 1]])
    }
  },
)
