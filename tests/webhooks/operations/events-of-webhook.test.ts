// The field `events` of a webhook.
import t from 'tap'
import { startHost } from '../support/host.ts'

t.test('a text in place of the list of events is taken as a list of one', async (t) => {
  const { app, ask } = await startHost(t, { core: { worker: { enabled: false } } })
  const url = 'https://receiver.example/'
  const { webhooks } = app.svc
  const made = await ask('POST', '', { url, events: '*' })
  t.match(made, { status: 201, body: { events: ['*'] } })
  const { id } = made.body
  t.match(await ask('PATCH', `/${id}`, { events: 'order.created' }), {
    status: 200,
    body: { events: ['order.created'] },
  })
  t.same((await ask('GET', `/${id}`)).body.events, ['order.created'])
  t.same((await webhooks.register({ url, events: 'order.shipped' })).events, ['order.shipped'])
  t.same((await webhooks.update({ id, events: '*' })).events, ['*'])
  t.same((await webhooks.tryFilter({ filter: null, events: '*' })).length, 0)

  for (const events of ['order.unknown', '', '**', 'order.created,order.shipped']) {
    t.match(await ask('POST', '', { url, events }), {
      status: 400,
      body: { code: 'SVC_WEBHOOKS_EVENT_NOT_ALLOWED' },
    })
  }
  for (const events of [null, 1, {}, [], [null], 'x'.repeat(201)]) {
    const answer = await ask('POST', '', { url, events })
    t.match(answer, { status: 400, body: { code: 'SVC_INVALID_INPUT' } }, JSON.stringify(events))
  }
  const { message } = (await ask('POST', '', { url, events: 1 })).body
  t.equal(message, 'body/events must be array,string')
})
