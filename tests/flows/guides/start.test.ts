import { builtPage } from '../../console/support/built-page.ts'
import { testGuides } from './support/guides.ts'
import { openReceiver } from '../../support/receiver.ts'

await builtPage()
testGuides('start', {
  async 'what.ts'(t, ask) {
    t.match(await ask('/orders', {}, null), { status: 401 })
    t.match(await ask('/orders', {}), { status: 200, body: { item: 'tea' } })
  },
  async 'shop.ts'(t, ask) {
    const partner = await openReceiver(t)
    const customer = { customer: 'acme', email: 'ada@acme.example' }
    const { body } = await ask('/customers', customer)
    const webhook = { url: partner.url, events: ['order.created'] }
    t.match(await ask('/_webhooks', webhook, body.key), { status: 201, body: { tenant: 'acme' } })
    t.match(await ask('/orders', { item: 'tea' }, body.key), { status: 200 })
    const [delivery] = await partner.waitFor(1)
    t.match(delivery, { body: { payload: { item: 'tea' } } })
  },
})
