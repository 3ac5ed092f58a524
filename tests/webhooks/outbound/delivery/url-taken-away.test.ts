/** A webhook whose URL is taken away, and given back. */
import { openReceiver } from '../../../support/receiver.ts'
import t, { type Test } from 'tap'
import { until } from '../../../support/until.ts'
import { startHost } from '../../support/host.ts'

/** A webhook with so many deliveries that wait for another attempt. */
async function failingWebhook(t: Test, waiting: number, settings: object) {
  const { app } = await startHost(t, { core: { worker: { retryDelaySeconds: 1 } } })
  let status = 500
  const target = await openReceiver(t, { answer: () => status })
  const { webhooks, events } = app.svc
  const { url } = target
  const { id } = await webhooks.register({ url, events: ['order.created'], ...settings })
  const publish = (count: number, of: string) =>
    Promise.all(Array.from({ length: count }, (_, n) => events.publish('order.created', { n, of })))
  await publish(waiting, 'failing')
  await until(() => target.received.length > 0)
  const recover = () => (status = 204)
  const received = (of: string) => target.received.filter(({ body }) => body.payload.of === of)
  return { webhooks, id, url, publish, recover, received }
}

t.test('an ordered one goes on with its restrictions', async (t) => {
  const { webhooks, id, url, publish, recover, received } = await failingWebhook(t, 20, {
    ordered: true,
  })
  await webhooks.update({ id, url: null })
  t.equal((await webhooks.get(id)).waiting, 0)
  recover()
  await webhooks.update({ id, url })
  await publish(5, 'new')
  await until(() => received('new').length === 5)
  t.equal((await webhooks.get(id)).ordered, true)
})

t.test(
  'what is published after it has a URL again is delivered, whatever is still deleted',
  async (t) => {
    const { webhooks, id, url, publish, recover, received } = await failingWebhook(t, 1200, {})
    await webhooks.update({ id, url: null })
    recover()
    await webhooks.update({ id, url })
    await publish(600, 'new')
    await until(() => received('new').length === 600)
  },
)
