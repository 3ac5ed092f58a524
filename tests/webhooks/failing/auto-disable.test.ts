import { advance, drain } from '@svc/testing'
import t from 'tap'
import { sessionOn } from '../../support/session.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'
import { scene } from './support/scene.ts'

t.test('a failing webhook is reported, then disabled; its deliveries wait', async (t) => {
  const { app, ask, shown, heard, receiver, id, hasStopped } = await scene(t, {
    // A check warns, then disables: one that pauses in between for longer than these differ gives no
    // warning. It comes when the second failures are written: from then on "failingSince" stays.
    autoDisable: { failingForSeconds: 4, warnAfterSeconds: 1.5, minAttempts: 3 },
  })
  for (const n of [1, 2]) await app.svc.events.publish('order.created', { n })
  await until(hasStopped)
  const disabled = await shown()
  t.match(disabled, { active: false, disabledReason: 'failing' })
  t.ok(Date.parse(disabled.disabledAt) - Date.parse(disabled.failingSince) >= 4000)
  await until(() => heard.length === 2)
  t.same(heard.map(({ name }) => name).toSorted(), ['svc.webhook.disabled', 'svc.webhook.failing'])
  const warned = heard.find(({ name }) => name === 'svc.webhook.failing')!.payload
  const { failingSince } = disabled
  t.match(warned, { webhookId: id, tenant: null, url: receiver.url, failingSince })
  const told = heard.find(({ name }) => name === 'svc.webhook.disabled')!.payload
  t.match(told, { webhookId: id, reason: 'failing', failingSince, waiting: 2 })
  t.match(told.lastError, { error: 'http', statusCode: 500 })
  t.ok(told.failedAttempts >= 3)
  const [row] = await app.svc.audit.list({ target: id, action: 'webhook.disable' })
  t.match(row, { actor: { kind: 'system' }, changes: { active: { from: true, to: false } } })

  await app.svc.events.publish('order.created', { n: 'missed' })
  await until(async () => (await shown()).waiting === 2)
  receiver.answer(200)
  const before = receiver.received.length
  const resumed = await ask('PATCH', `/${id}`, { active: true })
  t.match(resumed.body, {
    active: true,
    disabledAt: null,
    disabledReason: null,
    failingSince: null,
  })
  await receiver.waitFor(before + 3)
  t.ok(receiver.received.slice(before).some(({ raw }) => raw.includes('missed')))
  await until(() => heard.some(({ name }) => name === 'svc.webhook.recovered'))
  const recovered = heard.find(({ name }) => name === 'svc.webhook.recovered')!.payload
  t.match(recovered, { webhookId: id, by: 'operator', waiting: 2 })
  const { recoveryId } = recovered as { recoveryId: string }
  const recovery = { webhookId: id, id: recoveryId }
  const ended = await until(
    () => app.svc.webhooks.getRecovery(recovery),
    ({ finishedAt }) => finishedAt !== null,
  )
  t.match(ended, { what: 'missing', deliveries: 1, done: 1 })
})

t.test(
  'probes run one at a time, use up no attempt, and a success resumes all deliveries',
  async (t) => {
    const { app, shown, heard, receiver, id, isDisabled, ask } = await scene(t, {
      autoDisable: { failingForSeconds: 1, minAttempts: 2, probeEverySeconds: 0.5 },
    })
    // However late it is disabled, its deliveries have attempts left. Their first failures count from
    // when they are written, which may be late: later attempts span the time all the same.
    const retry = { maxAttempts: 4, delaysSeconds: [1.2, 1.2, 3600] }
    t.equal((await ask('PATCH', `/${id}`, { retry })).status, 200)
    for (let n = 0; n < 5; n++) await app.svc.events.publish('order.created', { n })
    await until(isDisabled)
    // More probes than any delivery has attempts left.
    const parked = await until(
      async () => (await ask('GET', `/${id}/deliveries?status=failed`)).body,
      (rows) =>
        rows.filter((row: { nextAttemptAt: unknown }) => row.nextAttemptAt === null).length > 3,
    )
    t.ok(parked.length > 0)
    t.equal((await shown()).waiting, 5)
    t.equal((await ask('GET', `/${id}/dead-letters`)).body.length, 0)

    receiver.answer(200)
    await until(async () => !(await isDisabled()))
    await until(async () => (await shown()).waiting === 0)
    const delivered = (await ask('GET', `/${id}/deliveries?status=delivered`)).body
    t.same(
      delivered.map(({ payload }: { payload: { n: number } }) => payload.n).toSorted(),
      [0, 1, 2, 3, 4],
    )
    await until(() => heard.some(({ name }) => name === 'svc.webhook.recovered'))
    const recovered = heard.filter(({ name }) => name === 'svc.webhook.recovered')
    t.match(recovered, [{ payload: { webhookId: id, by: 'probe', url: receiver.url } }])
    const [row] = await app.svc.audit.list({ target: id, action: 'webhook.reactivate' })
    t.match(row, { actor: { kind: 'system' }, changes: { active: { from: false, to: true } } })
  },
)

t.test('a failure that is recorded late is judged all the same', async (t) => {
  const { app, ask, database, shown, receiver, id, isDisabled } = await scene(t, {
    autoDisable: { failingForSeconds: 0.1, minAttempts: 2 },
  })
  await ask('PATCH', `/${id}`, { retry: { delaysSeconds: [3600] } })
  await app.svc.events.publish('order.created', { n: 1 })
  await until(async () => Date.now() - Date.parse((await shown()).failingSince ?? '') > 200)
  const client = await sessionOn(t, database)
  await client.query('begin')
  await client.query('lock table svc."__svc.webhooks.delivery_log" in share mode')
  await app.svc.events.publish('order.created', { n: 2 })
  await receiver.waitFor(2)
  // Longer than attempts are counted after they were made.
  const madeAt = Date.now()
  await until(() => Date.now() - madeAt > 1500)
  t.equal(await isDisabled(), false)
  await client.query('rollback')
  await until(isDisabled)
})

t.test('waiting retries are sent as soon as the webhook is active again', async (t) => {
  const { app, ask, shown, receiver, id, hasStopped } = await scene(t, {
    autoDisable: { failingForSeconds: 0.5, minAttempts: 2 },
  })
  await ask('PATCH', `/${id}`, { retry: { delaysSeconds: [3600] } })
  await app.svc.events.publish('order.created', { n: 1 })
  await until(async () => Date.now() - Date.parse((await shown()).failingSince ?? '') > 600)
  t.equal((await shown()).active, true, 'one attempt does not span the time')
  await app.svc.events.publish('order.created', { n: 2 })
  // A delivery whose failure is still to be settled would wait for its own retry.
  await until(hasStopped)
  receiver.answer(200)
  await ask('PATCH', `/${id}`, { active: true })
  await receiver.waitFor(4)
  await until(async () => (await shown()).waiting === 0)
})

t.test(
  'a webhook without enough attempts, or that an operator paused, is left alone',
  async (t) => {
    const { app, ask, shown, heard, id } = await scene(t, {
      autoDisable: { failingForSeconds: 1, minAttempts: 1000, probeEverySeconds: 0.5 },
    })
    await app.svc.events.publish('order.created', {})
    await until(() => heard.length === 1)
    t.equal(heard[0]!.name, 'svc.webhook.failing')
    t.match(await shown(), { active: true, disabledReason: null })
    await ask('PATCH', `/${id}`, { active: false })
    t.match(await shown(), { active: false, disabledAt: null, disabledReason: null })
    await ask('PATCH', `/${id}`, { active: true })
    t.equal(heard.length, 1)
  },
)

t.test('options that make no sense are refused', async (t) => {
  const cases = [
    [{}, /"autoDisable\.failingForSeconds" is missing/],
    [{ failingForSeconds: 0 }, /must be a number from 0\.1/],
    [{ failingForSeconds: 60, warnAfterSeconds: 61 }, /must be at most failingForSeconds, 60/],
    [{ failingForSeconds: 60, probeEvery: 5 }, /there is no option "autoDisable\.probeEvery"/],
  ] as const
  for (const [autoDisable, message] of cases) {
    await t.rejects(startHost(t, { autoDisable: autoDisable as never }), message)
  }
})

t.test('advance lets a webhook fail for hours, be disabled, and be probed', async (t) => {
  const { app, heard, receiver, isDisabled } = await scene(t, {
    core: { worker: { retryDelaySeconds: 600, maxAttempts: 100 } },
    autoDisable: { failingForSeconds: 7200, minAttempts: 3, probeEverySeconds: 600 },
  })
  await app.svc.events.publish('order.created', { n: 1 })
  await drain(app)
  for (const seconds of [700, 7200]) {
    t.equal(await isDisabled(), false, 'its attempts do not span the time')
    await advance(app, seconds)
    await drain(app)
  }
  await advance(app, 1)
  t.equal(await isDisabled(), true)
  receiver.answer(204)
  await advance(app, 300)
  t.equal(await isDisabled(), true, 'no probe is due yet')
  await advance(app, 310)
  await until(async () => !(await isDisabled()))
  await until(() => heard.some(({ name }) => name === 'svc.webhook.recovered'))
})

t.test('advance makes failures older whose rows another transaction has locked', async (t) => {
  const { app, database, shown, id } = await scene(t, {
    core: { worker: { retryDelaySeconds: 3600 } },
    autoDisable: null,
  })
  const client = await sessionOn(t, database)
  await client.query('begin')
  await client.query('select from svc."__svc.webhooks.registrations" where id = $1 for update', [
    id,
  ])
  await app.svc.events.publish('order.created', {})
  await drain(app)
  let isDone = false
  const advanced = advance(app, 7200).then(() => (isDone = true))
  const waiting = `select from pg_stat_activity
                    where datname = current_database() and wait_event_type = 'Lock'`
  await until(
    () => app.svc.database.query(waiting),
    ({ rowCount }) => rowCount === 1 || isDone,
  )
  await client.query('commit')
  await advanced
  t.ok(Date.now() - Date.parse((await shown()).failingSince ?? '') > 7200_000)
})
