import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { startHost } from '../support/host.ts'
import { until, untilCount } from '../../support/until.ts'
import { began } from './support/began.ts'
import { mostWithin } from './support/most-within.ts'
import { numbersOf, upTo } from './support/numbers-of.ts'
import { registerWith } from './support/register-with.ts'

t.test('deliveries go out one at a time, in the order of their commits', async (t) => {
  const host = await startHost(t)
  const other = await startHost(t, { database: host.database })
  let running = 0
  let most = 0
  const receiver = await openReceiver(t, {
    async answer() {
      most = Math.max(most, ++running)
      await pause(5)
      running--
      return 200
    },
  })
  await registerWith(host, receiver.url, { ordered: true })
  for (const n of upTo(40)) {
    await (n % 3 ? host : other).app.svc.events.publish('order.created', { n })
  }
  t.same(numbersOf(await receiver.waitFor(40)), upTo(40))
  t.equal(most, 1)
})

t.test('no two deliveries go out at a time, however many processes publish at once', async (t) => {
  const host = await startHost(t)
  const other = await startHost(t, { database: host.database })
  let running = 0
  let most = 0
  const receiver = await openReceiver(t, {
    async answer() {
      most = Math.max(most, ++running)
      await pause(2)
      running--
      return 200
    },
  })
  await registerWith(host, receiver.url, { ordered: true })
  const publishers = [host, other, host, other].map(async ({ app }, which) => {
    for (const n of upTo(40)) {
      await app.svc.events.publish('order.created', { n: 40 * which + n })
      if (n % 4 === which) await pause(10)
    }
  })
  await Promise.all(publishers)
  const numbers = numbersOf(await receiver.waitFor(160))
  t.same(
    numbers.toSorted((a, b) => a - b),
    upTo(160),
    'each once',
  )
  for (const which of upTo(4)) {
    const its = numbers.filter((n) => Math.floor(n / 40) === which)
    t.same(
      its,
      upTo(40).map((n) => 40 * which + n),
      'in the order of their calls',
    )
  }
  t.equal(most, 1)
})

t.test(
  'publishes of one transaction, and of one moment, keep the order of their calls',
  async (t) => {
    const { app, ...host } = await startHost(t)
    const receiver = await openReceiver(t)
    await registerWith({ app, ...host }, receiver.url, { ordered: true })
    await app.svc.transaction(async (db) => {
      for (const n of upTo(20)) await app.svc.events.publish('order.created', { n }, { db })
    })
    t.same(numbersOf(await receiver.waitFor(20)), upTo(20))
    await Promise.all(upTo(20).map((n) => app.svc.events.publish('order.created', { n: 20 + n })))
    t.same(numbersOf(await receiver.waitFor(40)), upTo(40))
  },
)

t.test('a delivery that is retried holds the others until it is delivered or dead', async (t) => {
  const host = await startHost(t)
  const failing = new Map([
    [2, 1],
    [5, Infinity],
  ])
  const receiver = await openReceiver(t, {
    answer(request) {
      const [n] = numbersOf([request]) as [number]
      const left = failing.get(n) ?? 0
      failing.set(n, left - 1)
      return left > 0 ? 500 : 200
    },
  })
  const { id } = await registerWith(host, receiver.url, {
    ordered: true,
    retry: { maxAttempts: 3, delaysSeconds: [0.2] },
  })
  for (const n of upTo(8)) await host.app.svc.events.publish('order.created', { n })
  t.same(numbersOf(await receiver.waitFor(11)), [0, 1, 2, 2, 3, 4, 5, 5, 5, 6, 7])
  await untilCount(1, async () => (await host.ask('GET', `/${id}/dead-letters`)).body)
})

t.test('dead letters are redriven in the order in which they died', async (t) => {
  const host = await startHost(t)
  const receiver = await openReceiver(t, { answer: 500 })
  const { id } = await registerWith(host, receiver.url, {
    ordered: true,
    retry: { maxAttempts: 1 },
  })
  for (const n of upTo(5)) await host.app.svc.events.publish('order.created', { n })
  await untilCount(5, async () => (await host.ask('GET', `/${id}/dead-letters`)).body)
  receiver.answer(200)
  t.match(await host.ask('POST', `/${id}/redrive`), { status: 202, body: { redriven: 5 } })
  await host.app.svc.events.publish('order.created', { n: 5 })
  t.same(numbersOf(await receiver.waitFor(11)).slice(5), upTo(6))
})

t.test('an order, a rate and a cap hold together', async (t) => {
  const host = await startHost(t)
  const other = await startHost(t, { database: host.database })
  const receiver = await openReceiver(t)
  const { id } = await registerWith(host, receiver.url, {
    ordered: true,
    maxInFlight: 4,
    rateLimit: { limit: 3, perSeconds: 1 },
  })
  for (const n of upTo(8)) {
    await (n % 2 ? host : other).app.svc.events.publish('order.created', { n })
  }
  t.same(numbersOf(await receiver.waitFor(8)), upTo(8))
  const attempts = await began(host, id, 8)
  t.ok(mostWithin(attempts, 950) <= 3, 'of a second, less what two clocks may differ')
  t.equal(receiver.received.length, 8)
})

t.test('a change of the webhook holds from the next delivery on', async (t) => {
  const host = await startHost(t)
  const moved = await openReceiver(t)
  const change = (body: object) => host.ask('PATCH', `/${id}`, body)
  const receiver = await openReceiver(t, {
    async answer(request) {
      const [n] = numbersOf([request])
      // Each is answered when the change is committed, and others wait behind it.
      if (n === 4) await change({ active: false })
      if (n === 9) await change({ url: moved.url, timeoutMs: 9000 })
      return 200
    },
  })
  const { id } = await registerWith(host, receiver.url, { ordered: true })
  await host.app.svc.transaction(async (db) => {
    for (const n of upTo(15)) await host.app.svc.events.publish('order.created', { n }, { db })
  })
  await until(
    async () => (await host.ask('GET', `/${id}`)).body,
    ({ active, waiting }) => !active && waiting === 10,
  )
  t.same(numbersOf(receiver.received), upTo(5), 'paused')
  await change({ active: true })
  t.same(numbersOf(await moved.waitFor(5)), [10, 11, 12, 13, 14])
  t.same(numbersOf(receiver.received), upTo(10))
})

t.test('a process that closes gives the line to another', async (t) => {
  const host = await startHost(t)
  const leaving = await startHost(t, { database: host.database })
  let closed: Promise<unknown> | undefined
  const receiver = await openReceiver(t, {
    async answer(request) {
      if (numbersOf([request])[0] === 7) closed = leaving.app.close()
      await pause(5)
      return 200
    },
  })
  await registerWith(host, receiver.url, { ordered: true })
  await leaving.app.svc.transaction(async (db) => {
    for (const n of upTo(30)) await leaving.app.svc.events.publish('order.created', { n }, { db })
  })
  t.same(numbersOf(await receiver.waitFor(30)), upTo(30))
  await closed
  t.same(new Set(receiver.received.map(({ headers }) => headers['x-svc-attempt'])), new Set(['1']))
})
