// In a process of its own: it counts the statements of all clients of pg.
import pg from 'pg'
import t, { type Test } from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'
import { numbersOf, upTo } from './support/numbers-of.ts'
import { registerWith } from './support/register-with.ts'

const COUNT = 60

t.test(
  'deliveries of an ordered webhook that wait take a claim each, and are settled together',
  async (t) => {
    const host = await startHost(t)
    const receiver = await openReceiver(t)
    await registerWith(host, receiver.url, { ordered: true })
    const { svc } = host.app
    const statements = countStatements(t)
    await svc.transaction(async (db) => {
      for (const n of upTo(COUNT)) await svc.events.publish('order.created', { n }, { db })
    })
    t.same(numbersOf(await receiver.waitFor(COUNT)), upTo(COUNT))
    const of = (part: string) => statements.filter((text) => text.includes(part)).length
    t.ok(of('claim_restricted') < 1.5 * COUNT, `${of('claim_restricted')} claims`)
    t.ok(of('from svc."__svc.webhooks.for_delivery" where id = $1') < COUNT / 2)
    t.ok(of('__svc.settle') < COUNT / 2, `${of('__svc.settle')} settlements`)
  },
)

t.test('at a low rate the publish claims the delivery', async (t) => {
  const host = await startHost(t)
  const receiver = await openReceiver(t)
  await registerWith(host, receiver.url, { ordered: true })
  const { events, database } = host.app.svc
  const isSettled = async () => (await database.query('select from svc_jobs.job')).rowCount === 0
  const statements = countStatements(t)
  for (const n of upTo(20)) {
    await events.publish('order.created', { n })
    await receiver.waitFor(n + 1)
    await until(isSettled)
  }
  t.same(numbersOf(receiver.received), upTo(20))
  const of = (part: string) => statements.filter((text) => text.includes(part)).length
  t.ok(of('claim_restricted') < 7, `${of('claim_restricted')} claims`)
  const webhooks = of('from svc."__svc.webhooks.for_delivery" where id = $1')
  const payloads = of('octet_length(event.payload) as bytes')
  t.ok(webhooks < 7, `${webhooks} webhooks are read alone`)
  t.ok(payloads < 7, `${payloads} events are read alone`)
})

t.test(
  'deliveries that wait for the one under way take a notification a second, and no fetch',
  async (t) => {
    const host = await startHost(t)
    const first = Promise.withResolvers<number>()
    const receiver = await openReceiver(t, { answer: () => first.promise })
    await registerWith(host, receiver.url, { ordered: true })
    const { svc } = host.app
    await svc.events.publish('order.created', { n: 0 })
    await receiver.waitFor(1)
    const startedAt = performance.now()
    const statements = countStatements(t)
    const of = (part: string) => statements.filter((text) => text.includes(part)).length
    for (const n of upTo(20).slice(1)) await svc.events.publish('order.created', { n })
    const seconds = (performance.now() - startedAt) / 1000
    // One for each publish would be 19. Those of the boot, of the registration and of the first delivery
    // may be sent only now.
    t.ok(of('pg_notify') <= 10 + seconds, `${of('pg_notify')} notifications in ${seconds} s`)
    first.resolve(200)
    t.same(numbersOf(await receiver.waitFor(20)), upTo(20))
    // Those that are due by the time alone: each of the two lanes polls every half a second.
    const elapsedMs = performance.now() - startedAt
    const polls = (4 * elapsedMs) / 1000
    const fetches = of('with recursive ahead')
    t.ok(fetches < 10 + polls, `${fetches} fetches in ${elapsedMs} ms`)
  },
)

function countStatements(t: Test): string[] {
  const texts: string[] = []
  const client = pg.Client.prototype as { query: (...args: unknown[]) => unknown }
  const { query } = client
  client.query = function counted(this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { text?: string }]
    texts.push(typeof statement === 'string' ? statement : (statement.text ?? ''))
    return Reflect.apply(query, this, args)
  }
  t.teardown(() => {
    client.query = query
  })
  return texts
}
