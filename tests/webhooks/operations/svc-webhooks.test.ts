/** What the methods of `app.svc.webhooks` are given. */
import t from 'tap'
import { startHost } from '../support/host.ts'

t.test('a text that Postgres cannot store is refused, also as a filter', async (t) => {
  const { app } = await startHost(t)
  const { webhooks } = app.svc
  for (const unstorable of ['\0', 'half of a pair: \ud800']) {
    const listed = webhooks.listDeliveries({ eventId: unstorable })
    await t.rejects(listed, { code: 'SVC_INVALID_INPUT', statusCode: 400 }, 'eventId')
    const counted = webhooks.stats({ event: unstorable })
    await t.rejects(counted, { code: 'SVC_INVALID_INPUT', statusCode: 400 }, 'event')
  }
})

t.test('a field that is undefined counts as left out', async (t) => {
  const { app } = await startHost(t, {
    core: { worker: { enabled: false, maxAttempts: undefined } },
  })
  const { webhooks } = app.svc
  const made = await webhooks.register({
    url: 'https://receiver.example/',
    events: '*',
    label: 'mine',
    tenant: undefined,
    timeoutMs: undefined,
    retry: { maxAttempts: undefined, delaysSeconds: [1, 2] },
  })
  t.match(made, { tenant: null, timeoutMs: null, retry: { delaysSeconds: [1, 2] } })
  const changed = await webhooks.update({ id: made.id, label: undefined, retry: undefined })
  t.match(changed, { label: 'mine', retry: { delaysSeconds: [1, 2] } })
  t.equal((await webhooks.list({ limit: undefined, tenant: undefined })).length, 1)
})
