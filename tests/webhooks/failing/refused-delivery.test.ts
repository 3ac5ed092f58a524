import t from 'tap'
import { until } from '../../support/until.ts'
import { scene } from './support/scene.ts'

t.test('a delivery that is always refused does not keep its webhook disabled', async (t) => {
  const { app, ask, shown, isDisabled, receiver, id } = await scene(t, {
    autoDisable: { failingForSeconds: 0.5, minAttempts: 2, probeEverySeconds: 0.5 },
  })
  await ask('PATCH', `/${id}`, { retry: { maxAttempts: 9, delaysSeconds: [3600] } })
  await app.svc.events.publish('order.created', { n: 'refused' })
  await until(async () => Date.now() - Date.parse((await shown()).failingSince ?? '') > 600)
  for (const n of [1, 2, 3]) await app.svc.events.publish('order.created', { n })
  await until(isDisabled)

  receiver.answer(({ raw }) => (raw.includes('refused') ? 413 : 204))
  const before = receiver.received.length
  const probes = (await receiver.waitFor(before + 3)).slice(before)
  t.ok(
    probes.some(({ raw }) => !raw.includes('refused')),
    'a later probe takes another delivery',
  )
  await until(async () => !(await isDisabled()))
  await until(async () => (await shown()).waiting === 1)
  const delivered = (await ask('GET', `/${id}/deliveries?status=delivered`)).body
  t.same(
    delivered.map(({ payload }: { payload: { n: number } }) => payload.n).toSorted(),
    [1, 2, 3],
  )
  t.equal((await ask('GET', `/${id}/dead-letters`)).body.length, 0)
})
