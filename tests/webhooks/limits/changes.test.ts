import { useCore } from '@svc/core/internal'
import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { startHost as startCoreHost } from '../../core/support/host.ts'
import { startHost, type Host } from '../support/host.ts'
import { until, untilCount } from '../../support/until.ts'
import { startHoldingReceiver } from './support/holding-receiver.ts'
import { numbersOf, upTo } from './support/numbers-of.ts'
import { registerWith } from './support/register-with.ts'

const AN_HOUR = { limit: 1, perSeconds: 3600 }

const publishAll = async ({ app }: Pick<Host, 'app'>, from: number, to: number) => {
  for (let n = from; n < to; n++) await app.svc.events.publish('order.created', { n })
}

/** How many jobs of a webhook wait, and how many of them aside, where fetches do not see them. */
async function waitingOf({ app }: Pick<Host, 'app'>, id: string) {
  const { rows } = await app.svc.database.query(
    `select count(*)::int as all, count(*) filter (where priority = -2)::int as aside
       from svc_jobs.job where singleton_key = $1 and state < 'active'`,
    [id],
  )
  return rows[0] as { all: number; aside: number }
}

t.test('limits that are set while deliveries wait hold for them', async (t) => {
  const publisher = await startHost(t, { core: { worker: { enabled: false } } })
  const receiver = await startHoldingReceiver(t)
  const { id } = await registerWith(publisher, receiver.url, {})
  await publishAll(publisher, 0, 20)
  const patch = { ordered: true, rateLimit: { limit: 1000, perSeconds: 1 }, maxInFlight: 5 }
  t.equal((await publisher.ask('PATCH', `/${id}`, patch)).status, 200)
  await publishAll(publisher, 20, 25)
  t.same(await waitingOf(publisher, id), { all: 25, aside: 5 })
  await startHost(t, { database: publisher.database })
  for (const count of upTo(25)) {
    await receiver.waitFor(count + 1)
    receiver.answerOne()
  }
  t.equal(receiver.most(), 1)
  t.same(numbersOf(receiver.received), upTo(25))
})

t.test('after a limit is raised or removed, waiting deliveries are sent', async (t) => {
  const host = await startHost(t)
  const receiver = await openReceiver(t)
  const { id } = await registerWith(host, receiver.url, { rateLimit: AN_HOUR })
  await publishAll(host, 0, 12)
  await receiver.waitFor(1)
  await host.ask('PATCH', `/${id}`, { rateLimit: { limit: 4, perSeconds: 3600 } })
  await receiver.waitFor(4)
  await until(
    () => waitingOf(host, id),
    ({ all }) => all === 8,
  )
  t.equal(receiver.received.length, 4)
  await host.ask('PATCH', `/${id}`, { rateLimit: null })
  t.same(new Set(numbersOf(await receiver.waitFor(12))), new Set(upTo(12)))
  await publishAll(host, 12, 14)
  await receiver.waitFor(14)
  const { rows } = await host.app.svc.database.query('select from svc."__svc.attempt_permits"')
  t.equal(rows.length, 0)
})

t.test('deliveries that wait for a limit do not delay others', async (t) => {
  const host = await startHost(t)
  const limited = await openReceiver(t)
  const { id } = await registerWith(host, limited.url, {
    events: ['order.created'],
    rateLimit: AN_HOUR,
  })
  const other = await openReceiver(t)
  await registerWith(host, other.url, { events: ['order.shipped'] })
  await Promise.all(upTo(500).map((n) => host.app.svc.events.publish('order.created', { n })))
  for (const n of upTo(20)) {
    await host.app.svc.events.publish('order.shipped', { n })
    await other.waitFor(n + 1)
  }
  await limited.waitFor(1)
  t.same(await waitingOf(host, id), { all: 499, aside: 499 })
})

t.test('a host with core alone publishes within the limits of webhooks', async (t) => {
  const host = await startHost(t)
  const receiver = await openReceiver(t)
  const { id } = await registerWith(host, receiver.url, { rateLimit: AN_HOUR })
  const publisher = await startCoreHost(t, { database: host.database })
  await publishAll(publisher, 0, 5)
  await receiver.waitFor(1)
  await until(
    () => waitingOf(host, id),
    ({ all, aside }) => all === 4 && aside === 4,
  )
  t.equal(receiver.received.length, 1)
})

t.test('an ordered webhook that was paused goes on where it stopped', async (t) => {
  const host = await startHost(t)
  const receiver = await startHoldingReceiver(t)
  const { id } = await registerWith(host, receiver.url, { ordered: true })
  await publishAll(host, 0, 6)
  await receiver.waitFor(1)
  await host.ask('PATCH', `/${id}`, { active: false })
  receiver.answerOne()
  await untilCount(1, async () => (await host.ask('GET', `/${id}/deliveries`)).body)
  await host.ask('PATCH', `/${id}`, { active: true })
  await publishAll(host, 6, 8)
  for (const count of upTo(7)) {
    await receiver.waitFor(count + 2)
    receiver.answerOne()
  }
  t.same(numbersOf(receiver.received), upTo(8))
})

t.test('a limited webhook that is deleted leaves nothing behind', async (t) => {
  const host = await startHost(t)
  const receiver = await openReceiver(t)
  const { id } = await registerWith(host, receiver.url, { rateLimit: AN_HOUR, ordered: true })
  await publishAll(host, 0, 5)
  await receiver.waitFor(1)
  t.equal((await host.ask('DELETE', `/${id}`)).status, 204)
  const core = await useCore(host.app)
  const leftOf = async () => {
    const { rows } = await core.db.query(
      `select (select count(*) from svc_jobs.job where singleton_key = $1)::int as jobs,
              (select count(*) from svc."__svc.attempt_permits")::int as permits,
              (select count(*) from svc."__svc.recipient_states" where restricted)::int as recipients`,
      [id],
    )
    return rows[0] as object
  }
  t.same(await until(leftOf, (left) => Object.values(left).every((count) => count === 0)), {
    jobs: 0,
    permits: 0,
    recipients: 0,
  })
  t.equal(receiver.received.length, 1)
})
