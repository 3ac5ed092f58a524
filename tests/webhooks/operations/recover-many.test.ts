/** Recoveries that outlive the process that began them. */
import { drain } from '@svc/testing'
import { svcWebhooks } from '@svc/webhooks'
import t from 'tap'
import { startHost as startCoreHost } from '../../core/support/host.ts'
import { until } from '../../support/until.ts'
import { startWorkerChild } from '../limits/support/worker-child.ts'
import { brokenWebhook, deadLettersOf, finished, idOf, since } from '../support/broken-webhook.ts'
import { startHost, type Host } from '../support/host.ts'

const webhooksOptions = {
  allowedEvents: ['order.created', 'order.shipped'],
  allowedNetworks: ['127.0.0.0/8'],
}

t.test('another process continues a recovery whose process was killed', async (t) => {
  const { host, id, receiver, repair } = await brokenWebhook(t, 1, 1)
  const { database } = host
  await host.app.svc.events.publish('order.created', { n: 1 })
  await deadLettersOf(host, id, 1)
  const many = 1500
  await copyDeadLetter(host, many - 1)
  // Nothing is sent before all of them are recovered.
  await host.app.svc.webhooks.update({ id, active: false })
  await host.app.close()
  repair()

  const child = await startWorkerChild(t, database)
  const watcher = await startHost(t, { database, core: { worker: { enabled: false } } })
  // Twenty portions in five seconds: the kill comes long before the last one.
  const asked = { id, what: 'dead' as const, since, perSecond: 300 }
  t.match(await child.recover(asked), { deliveries: many })
  const [begun] = await until(
    () => watcher.app.svc.webhooks.listRecoveries(id),
    ([recovery]) => recovery!.done > 0,
  )
  child.kill()
  t.match(begun, { deliveries: many, finishedAt: null })

  const { app, log } = await startCoreHost(t, {
    database,
    setUp: (other) => other.register(svcWebhooks, webhooksOptions),
  })
  t.match(await finished(watcher, id), [{ id: begun!.id, deliveries: many, done: many }])
  t.same(await watcher.app.svc.webhooks.listDeadLetters(id), [])
  await app.svc.webhooks.update({ id, active: true })
  const got = (await receiver.waitFor(1 + many)).slice(1)
  t.equal(new Set(got.map(idOf)).size, many, 'each delivery once')
  t.ok(got.every(({ headers }) => headers['x-svc-attempt'] === '2'))

  const told = log.filter(({ recoveryId }) => recoveryId === begun!.id)
  t.match(told.at(-1), {
    msg: 'a recovery has finished',
    recipient: id,
    deliveries: many,
    done: many,
  })
  t.ok(told.length <= 2, 'not at each portion')
})

/** Makes dead letters of the one that there is, each of a delivery of its own. */
async function copyDeadLetter({ app }: Host, count: number): Promise<void> {
  const { database } = app.svc
  await database.query(
    `insert into svc_jobs.job
     select (jsonb_populate_record(letter, jsonb_build_object(
              'id', gen_random_uuid(),
              'data', letter.data || jsonb_build_object('deliveryId', gen_random_uuid())))).*
       from svc_jobs.job as letter, generate_series(1, $1::int)
      where letter.name = '__svc.webhooks.deliver.dlq'`,
    [count],
  )
}

t.test('another process continues a recovery whose process ended', async (t) => {
  const { host, id, repair } = await brokenWebhook(t, 1, 1)
  for (let n = 0; n < 8; n++) await host.app.svc.events.publish('order.created', { n })
  await deadLettersOf(host, id, 8)
  repair()
  await host.app.svc.webhooks.recover({ id, what: 'dead', since, perSecond: 2 })
  await host.app.close()
  const other = await startHost(t, { database: host.database })
  t.match(await finished(other, id), [{ deliveries: 8, done: 8 }])
  t.same(await other.app.svc.webhooks.listDeadLetters(id), [])
})

t.test('drain waits for what is recovered', async (t) => {
  const { host, id, receiver, repair } = await brokenWebhook(t, 1, 1)
  for (let n = 0; n < 3; n++) await host.app.svc.events.publish('order.created', { n })
  await deadLettersOf(host, id, 3)
  repair()
  await host.app.svc.webhooks.recover({ id, what: 'dead', since })
  await drain(host.app)
  t.equal(receiver.received.length, 6)
})
