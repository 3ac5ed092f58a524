import t from 'tap'
import { openReceiver } from '../../../support/receiver.ts'
import { startHost } from '../../support/host.ts'
import { until } from '../../../support/until.ts'

const ODD = [
  '{"b":1,"a":2,"10":3,"2":4}',
  '12345678901234567890123456789',
  '{"price":10.00,"tiny":1e-400,"huge":1E400,"minus":-0}',
  '"\\u0000\\ud800\\udfff\\u2028\u2028\u2029\ufeff"',
  '"żółć 😀 👩‍👩‍👧‍👦 \u202eright-to-left e\u0301 \ufffd"',
  '{"same":1,"same":2}',
  ' { "spaces" : [ ] } ',
  'null',
  'true',
  '""',
  '[]',
  `"${'long '.repeat(100_000)}"`,
]

t.test('payloads arrive, and are shown in the log, as the text that was published', async (t) => {
  const { app, ask, register } = await startHost(t)
  const receiver = await openReceiver(t)
  const { id } = await register(receiver.url)
  const { useCore } = await import('@svc/core/internal')
  const core = await useCore(app)
  for (const text of ODD) await core.bus.publish([{ name: 'order.created', payload: text }])

  const requests = await receiver.waitFor(ODD.length)
  const payloads = requests.map(({ raw }) =>
    raw.slice('{"event":"order.created","payload":'.length, raw.lastIndexOf(',"deliveryId"')),
  )
  t.same(payloads.toSorted(), ODD.toSorted())

  const list = () => app.inject(`/_webhooks/${id}/deliveries`)
  await until(
    () => ask('GET', `/${id}/deliveries`),
    ({ body }) => body.length === ODD.length,
  )
  const shown = (await list()).body
  for (const [index, text] of ODD.entries())
    t.ok(shown.includes(`"payload":${text}}`), String(index))
})

t.test('what JSON can write arrives as JSON writes it', async (t) => {
  const { app, register } = await startHost(t)
  const receiver = await openReceiver(t)
  await register(receiver.url)
  const payload = { at: new Date(0), lone: '\ud800', nul: '\0', deep: [[[{}]]], none: undefined }
  await app.svc.events.publish('order.created', payload)
  const [{ raw } = { raw: '' }] = await receiver.waitFor(1)
  t.ok(raw.startsWith(`{"event":"order.created","payload":${JSON.stringify(payload)},`))
})
