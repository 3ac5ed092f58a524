/** Which events a recovery of what was missed finds, and in which order. */
import { listRecoveries, useCore, type Core, type Db, type Recovery } from '@svc/core/internal'
import t, { type Test } from 'tap'
import { recoverMissedPortion } from '../../../../packages/webhooks/src/outbound/recoveries/recover-missed.ts'
import { since } from '../../support/broken-webhook.ts'
import { until } from '../../../support/until.ts'
import { startHost } from '../../support/host.ts'

const LOG_DAYS = 7

/** A webhook that has missed three events, on a host that carries out no recoveries itself. */
async function missedThree(t: Test) {
  const host = await startHost(t, { core: { worker: { enabled: false } } })
  const { events } = host.app.svc
  for (let n = 0; n < 3; n++) await events.publish('order.created', { n })
  const { id } = await host.register('https://receiver.example/', ['order.created'])
  const core = await useCore(host.app)
  return { core, id }
}

/** A recovery that has noted the open transactions and is to be counted next. */
async function begun(core: Core, id: string): Promise<Recovery> {
  const request = { queue: '__svc.webhooks.deliver', recipient: id, what: 'missing' as const }
  const span = { since, until: null, perSecond: null }
  const recovery = await core.transaction((db) => core.queues.recover(db, { ...request, ...span }))
  return { ...recovery, hasNotedTransactions: true }
}

/** All portions in which what was missed is written down, in one transaction. */
async function count(core: Core, db: Db, recovery: Recovery): Promise<void> {
  let position = recovery.position
  do {
    const portion = await recoverMissedPortion(core, LOG_DAYS, db, { ...recovery, position }, 500)
    position = portion.position ?? null
  } while (position !== null)
}

async function countedIn(core: Core, recovery: Recovery): Promise<number | null> {
  const { queue, recipient } = recovery
  const all = await listRecoveries(core.db, queue, { recipient, id: recovery.id })
  return all[0]?.deliveries ?? null
}

t.test('of two recoveries that are counted at once, one finds the events', async (t) => {
  const { core, id } = await missedThree(t)
  const [one, other] = [await begun(core, id), await begun(core, id)]
  const counted = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const first = core.transaction(async (db) => {
    await count(core, db, one)
    counted.resolve()
    await release.promise
  })
  await counted.promise
  const portion = () =>
    core.transaction((db) => recoverMissedPortion(core, LOG_DAYS, db, other, 500))
  t.match(await portion(), { done: 0, isFinished: false, waitSeconds: 1 })
  release.resolve()
  await first
  await core.transaction((db) => count(core, db, other))
  t.equal(await countedIn(core, one), 3)
  t.equal(await countedIn(core, other), 0)
})

t.test('the clock of a process that is behind leaves out no event', async (t) => {
  const { core, id } = await missedThree(t)
  const recovery = await begun(core, id)
  const now = Date.now()
  const clock = t.intercept(Date, 'now', { value: () => now - 10 * 60_000 })
  await core.transaction((db) => count(core, db, recovery))
  clock.restore()
  t.equal(await countedIn(core, recovery), 3)
})

t.test(
  'events of one transaction come in the order of their publish, of all tenants',
  async (t) => {
    const host = await startHost(t, { core: { worker: { enabled: false } } })
    const { svc } = host.app
    await svc.transaction(async (db) => {
      for (const tenant of ['acme', null, 'zeta', null, 'acme']) {
        await svc.events.publish('order.created', {}, { tenant, db })
      }
    })
    const { id } = await host.register('https://receiver.example/', ['order.created'])
    const core = await useCore(host.app)
    const recovery = await begun(core, id)
    await core.transaction((db) => count(core, db, recovery))
    const { rows } = await svc.database.query(
      `select split_part(event_id, E'\x1f', 1) as tenant, event_id like E'%\x1f%' as "hasTenant"
       from svc."__svc.webhooks.missed_events" order by n`,
    )
    t.same(
      rows.map(({ tenant, hasTenant }) => (hasTenant ? tenant : null)),
      ['acme', null, 'zeta', null, 'acme'],
    )
  },
)

t.test(
  'a webhook that is deleted while its missed events are counted has no recovery',
  async (t) => {
    const { core, id } = await missedThree(t)
    const { webhooks, database } = core.svc
    const counting = await database.connect()
    t.teardown(() => counting.release())
    await counting.query('begin')
    await counting.query('lock table svc."__svc.events" in access exclusive mode')
    const recovery = webhooks.recover({ id, since, what: 'missing' })
    const rejected = t.rejects(recovery, { code: 'SVC_WEBHOOKS_NOT_FOUND' })
    await until(async () => {
      const { rowCount } = await database.query(
        `select from pg_locks where not granted and relation = 'svc."__svc.events"'::regclass`,
      )
      return rowCount === 1
    })
    await webhooks.delete(id)
    await counting.query('commit')
    await rejected
    t.strictSame(await listRecoveries(core.db, '__svc.webhooks.deliver', { recipient: id }), [])
  },
)
