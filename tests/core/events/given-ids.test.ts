/** Publishes with an id of their own wait for a transaction that holds the id; others do not. */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { HeldLane } from '../../../packages/core/src/events/held-lane.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

t.test('a publish waits for nobody who has taken the id of another', async (t) => {
  const { app } = await startHost(t)
  const { events, transaction } = app.svc
  const { same, others } = await transaction(async (db) => {
    await events.publish('order.created', 1, { id: 'o-1', db })
    const same = events.publish('order.created', 1, { id: 'o-1' })
    const others = await Promise.all([1, 2, 3].map((n) => events.publish('order.created', n)))
    return { same, others }
  })
  t.ok(others.every(({ duplicate }) => !duplicate))
  t.match(await same, { id: 'o-1', duplicate: true })
})

t.test('repeats of an id that is held keep no other id waiting', async (t) => {
  const { app } = await startHost(t)
  const { events, database } = app.svc
  const holder = await database.connect()
  t.teardown(() => holder.release())
  await holder.query('begin')
  const held = ['o-1', 'o-2', 'o-3']
  for (const id of held) {
    await events.publish('order.created', 1, { id, tenant: 'acme', db: holder })
  }
  const repeats = [...held, ...held, ...held].map((id) =>
    events.publish('order.created', 1, { id, tenant: 'acme' }),
  )
  let answered = 0
  for (const repeat of repeats) void repeat.then(() => answered++)
  // Before they are known to be held, in one batch with them, and after.
  const others = await Promise.all([
    events.publish('order.created', 1, { id: 'o-1', tenant: 'globex' }),
    events.publish('order.paid', 1, { id: 'o-1', tenant: 'acme' }),
    ...Array.from({ length: 50 }, () => events.publish('order.paid', 1, { id: randomUUID() })),
  ])
  for (let n = 0; n < 20; n++) {
    others.push(await events.publish('order.paid', 1, { id: `alone-${n}` }))
  }
  t.ok(others.every(({ duplicate }) => !duplicate))
  t.equal(answered, 0, 'the repeats wait')

  await holder.query('rollback')
  const results = await Promise.all(repeats)
  t.same(
    held.map((id) => results.filter((one) => one.id === id && !one.duplicate).length),
    [1, 1, 1],
    'the first of each is published, the others are its repeats',
  )
})

t.test('a host that closes answers the publishes that wait for an id', async (t) => {
  const { app } = await startHost(t)
  const { events, database } = app.svc
  const holder = await database.connect()
  await holder.query('begin')
  await events.publish('order.created', 1, { id: 'o-1', db: holder })
  const same = events.publish('order.created', 1, { id: 'o-1' })
  const closing = app.close()
  await holder.query('commit')
  holder.release()
  t.match(await same, { id: 'o-1', duplicate: true })
  await closing
})

t.test('a publish waits for its id as long as 20 seconds', async (t) => {
  const { lane, tries, clock } = manualLane(t)
  const waiting = lane.wait({ key: 'a', what: 'the id "a"' }, tries.of('a'))
  await until(() => tries.made.length >= 2)
  t.ok(lane.has('a'))
  clock.ms = 20_001
  await t.rejects(waiting, {
    code: 'SVC_UNAVAILABLE',
    statusCode: 503,
    message: /another transaction.* holds the id "a"/,
    cause: { code: '55P03' },
  })
  t.notOk(lane.has('a'))
  t.ok(tries.made.every(({ lockMs }) => lockMs === 250))
})

t.test('those that wait take turns, two at a time', async (t) => {
  const { lane, tries } = manualLane(t)
  const waiting = ['a', 'b', 'c', 'd'].map((key) => lane.wait({ key, what: key }, tries.of(key)))
  await until(() => tries.made.length >= 8)
  t.same(
    tries.made.slice(0, 8).map(({ key }) => key),
    ['a', 'b', 'c', 'd', 'a', 'b', 'c', 'd'],
  )
  t.equal(tries.mostAtATime, 2)
  tries.isFree = true
  t.same(await Promise.all(waiting), ['a', 'b', 'c', 'd'])
  await lane.idle()
  t.notOk(['a', 'b', 'c', 'd'].some((key) => lane.has(key)))
})

/** A lane whose publishes find their id held until `isFree`. */
function manualLane(t: Test) {
  const clock = { ms: 0 }
  const tries = {
    made: [] as { key: string; lockMs: number }[],
    mostAtATime: 0,
    isFree: false,
    of: (key: string) => async (lockMs: number) => {
      tries.made.push({ key, lockMs })
      tries.mostAtATime = Math.max(tries.mostAtATime, ++underWay)
      await new Promise((resolve) => setImmediate(resolve))
      underWay--
      if (!tries.isFree) throw Object.assign(new Error('held'), { code: '55P03' })
      return key
    },
  }
  let underWay = 0
  t.teardown(() => {
    tries.isFree = true
  })
  return { lane: new HeldLane(() => clock.ms), tries, clock }
}
