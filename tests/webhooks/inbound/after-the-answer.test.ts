import t from 'tap'
import { verifyDelivery } from '@svc/webhooks/receiver'
import { openReceiver } from '../../support/receiver.ts'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'
import { hostOf } from './host.ts'

const inbound = {
  a: {
    path: '/hooks/a',
    publishAs: 'a',
    verify: () => true,
    deduplicationKey: (_request: unknown, body: string) => body,
  },
}
const payload = '{"n":12345678901234567890,"text":"Zürich"}'
const post = {
  method: 'POST' as const,
  url: '/hooks/a',
  headers: { 'content-type': 'application/json' },
  payload,
}

t.test('a handler that throws is tried again, and its event ends as a dead letter', async (t) => {
  const { app } = await hostOf(t, inbound)
  const attempts: [id: string, attempt: number][] = []
  void app.svc.events.subscribe('a', (_payload, { id, attempt }) => {
    attempts.push([id, attempt])
    throw new Error('not today')
  })
  const { status, eventId } = (await app.inject(post)).json()
  t.equal(status, 'accepted', 'the sender has its answer, whatever becomes of the event')
  const [dead] = await until(
    () => app.svc.jobs.fetch('__svc.sub/a.dlq'),
    (jobs) => jobs.length > 0,
  )
  t.match(dead?.data, { event: 'a', eventId })
  t.strictSame(attempts, [
    [eventId, 1],
    [eventId, 2],
  ])
  t.strictSame((await app.inject(post)).json(), { status: 'duplicate' })
})

t.test('an inbound payload is delivered byte for byte to webhooks of its event', async (t) => {
  const receiver = await openReceiver(t)
  const host = await startHost(t, { inbound, allowedEvents: ['a'] })
  const { secret } = await host.register(receiver.url)
  await host.app.inject(post)
  const [delivery] = await receiver.waitFor(1)
  const { headers = {}, raw: body = '' } = delivery ?? {}
  t.equal(verifyDelivery({ headers, body, secret }).event, 'a')
  t.ok(body.includes(`"payload":${payload},`))
})
