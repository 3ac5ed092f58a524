/** The dead letters of the host's own handlers: listed, handled again and deleted over HTTP. */
import t from 'tap'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

t.test(
  'dead letters of handlers are listed, redriven and deleted, and the audit says so',
  async (t) => {
    const { app, ask } = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
    const { events, audit } = app.svc
    const handled: string[] = []
    let isBroken = true
    const handle = (_: unknown, { id }: { id: string }) => {
      if (isBroken) throw new Error('the warehouse is closed')
      handled.push(id)
    }
    await events.subscribe('order.created', handle, { subscription: 'ship' })
    await events.subscribe('order.shipped', handle, { subscription: 'bill' })
    await events.publish('order.created', { n: 1 }, { id: 'one', tenant: 'acme' })
    await events.publish('order.created', { n: 2 }, { id: 'two' })
    await events.publish('order.shipped', { n: 3 }, { id: 'three' })
    const list = async (query = '') => (await ask('GET', `/handlers/dead-letters${query}`)).body
    const letters = await until(list, (found) => found.length === 3)
    const ofOne = letters.find(({ eventId }: { eventId: string }) => eventId === 'one')
    t.strictSame(
      { ...ofOne, id: null, deadAt: null },
      {
        id: null,
        subscription: 'ship',
        event: 'order.created',
        eventId: 'one',
        tenant: 'acme',
        payload: { n: 1 },
        attempts: 1,
        error: 'the warehouse is closed',
        deadAt: null,
      },
    )
    t.equal((await list('?subscription=bill')).length, 1)
    t.equal((await list('?event=order.created')).length, 2)
    t.equal((await list('?until=2020-01-01T00:00:00Z')).length, 0)
    t.equal((await list(`?since=${ofOne.deadAt}`)).length > 0, true)
    t.same(await list('?subscription=none'), [])
    const page = await ask('GET', '/handlers/dead-letters?limit=2')
    t.equal(page.body.length, 2)
    t.match(page.headers['link'], /after=.*rel="next"/)
    t.same(await list(`?after=${page.body[1].id}`), [letters[2]])

    isBroken = false
    const redrive = (body: object) => ask('POST', '/handlers/redrive', body)
    t.match(await redrive({ subscription: 'ship', ids: [ofOne.id] }), {
      status: 202,
      body: { redriven: 1 },
    })
    await until(() => handled.includes('one'))
    t.match(await redrive({ subscription: 'none' }), {
      status: 404,
      body: { code: 'SVC_WEBHOOKS_SUBSCRIPTION_NOT_FOUND' },
    })
    t.match(await redrive({ subscription: 'ship', ids: ['x'] }), { status: 400 })
    const [billed] = await list('?subscription=bill')
    t.equal((await ask('DELETE', `/handlers/dead-letters/${billed.id}`)).status, 204)
    t.match(await ask('DELETE', `/handlers/dead-letters/${billed.id}`), {
      status: 404,
      body: { code: 'SVC_WEBHOOKS_DEAD_LETTER_NOT_FOUND' },
    })
    t.equal((await ask('DELETE', '/handlers/dead-letters/x')).status, 404)
    t.match(await redrive({ subscription: 'ship' }), { body: { redriven: 1 } })
    await until(() => handled.includes('two'))
    t.same(await list(), [])
    const items = await audit.list({ target: 'subscription' })
    t.match(
      items.map(({ action, target, changes }) => [action, target.id, changes]),
      [
        ['subscription.redrive', 'ship', { redriven: { to: 1 } }],
        ['subscription.delete-dead-letter', 'bill', { eventId: { from: 'three' } }],
        ['subscription.redrive', 'ship', { redriven: { to: 1 } }],
      ],
    )
  },
)
