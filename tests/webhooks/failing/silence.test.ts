// A webhook with little traffic: that nothing is attempted says nothing about its receiver.
import { advance, drain } from '@svc/testing'
import t from 'tap'
import { until } from '../../support/until.ts'
import { scene } from './support/scene.ts'

const DAY_IN_SECONDS = 24 * 3600
const autoDisable = { failingForSeconds: 5 * DAY_IN_SECONDS, minAttempts: 2 }

t.test(
  'a few failures of the first day disable nothing, and tell nobody, days later',
  async (t) => {
    const { app, shown, heard, receiver } = await scene(t, {
      core: { worker: { maxAttempts: 3, retryDelaySeconds: 600 } },
      autoDisable: { ...autoDisable, probeEverySeconds: 3600 },
    })
    const pass = async (days: number) => {
      await advance(app, days * DAY_IN_SECONDS)
      await drain(app)
    }
    for (const n of [1, 2]) await app.svc.events.publish('order.created', { n })
    await drain(app)
    for (let attempts = 1; attempts < 3; attempts++) await pass(0.5)
    t.match(await shown(), { active: true, waiting: 0 }, 'all attempts are used up')
    const { failingSince } = await shown()
    t.ok(failingSince)
    receiver.answer(200)
    await pass(5)
    t.match(await shown(), { active: true, disabledAt: null, failingSince: /./ })

    const { length } = receiver.received
    await app.svc.events.publish('order.created', { week: 2 })
    await receiver.waitFor(length + 1)
    await until(shown, ({ failingSince: since }) => since === null)
    await pass(1)
    t.strictSame(heard, [])
  },
)

t.test('one failure, with a success soon after, tells nobody anything', async (t) => {
  const { app, shown, heard, receiver } = await scene(t, {
    core: { worker: { maxAttempts: 3, retryDelaySeconds: 1 } },
    autoDisable,
  })
  receiver.answer([500, 200])
  await app.svc.events.publish('order.created', {})
  await drain(app)
  await advance(app, 5)
  await receiver.waitFor(2)
  await until(shown, ({ failingSince, lastSuccessAt }) => failingSince === null && lastSuccessAt)
  await advance(app, 7 * DAY_IN_SECONDS)
  t.match(await shown(), { active: true, failingSince: null })
  t.strictSame(heard, [])
})

t.test('the attempt that fails after the time disables it', async (t) => {
  const { app, shown, heard } = await scene(t, {
    core: { worker: { maxAttempts: 1 } },
    autoDisable,
  })
  await app.svc.events.publish('order.created', { n: 1 })
  await drain(app)
  await advance(app, 6 * DAY_IN_SECONDS)
  t.match(await shown(), { active: true, failingSince: /./ })
  await app.svc.events.publish('order.created', { n: 2 })
  await until(shown, ({ active }) => active === false)
  t.match(await shown(), { disabledReason: 'failing' })
  await until(() => heard.length === 2)
  t.same(heard.map(({ name }) => name).toSorted(), ['svc.webhook.disabled', 'svc.webhook.failing'])
})
