import t from 'tap'
import { openReceiver } from '../../../support/receiver.ts'
import { startHost } from '../../support/host.ts'
import { until, untilCount } from '../../../support/until.ts'

const MEBIBYTE = 1024 * 1024

t.test(
  'large payloads arrive whole, and a page of the log is bounded by their bytes',
  async (t) => {
    const { app, ask, register } = await startHost(t)
    const receiver = await openReceiver(t)
    const { id } = await register(receiver.url)
    const text = 'x'.repeat(3 * MEBIBYTE)
    for (let n = 0; n < 12; n++) await app.svc.events.publish('order.created', { n, text })

    const requests = await receiver.waitFor(12)
    const numbers = requests.map(({ body }) => {
      const { payload } = body
      t.equal(payload.text.length, text.length)
      return payload.n
    })
    t.strictSame(
      numbers.toSorted((a, b) => a - b),
      [...Array(12).keys()],
    )

    const page = (query: string) => ask('GET', `/${id}/deliveries${query}`)
    await until(
      async () => (await page('?limit=1&status=delivered')).body.length,
      (length) => length === 1,
    )
    const seen: string[] = []
    let query = '?limit=100'
    for (let pages = 1; query !== ''; pages++) {
      const { body, headers } = await page(query)
      t.ok(body.length >= 1 && body.length <= 5, `${body.length} on page ${pages}`)
      seen.push(...body.map((record: { id: string }) => record.id))
      query = /\?[^>]*/.exec((headers['link'] as string | undefined) ?? '')?.[0] ?? ''
    }
    t.equal(new Set(seen).size, seen.length)
    const all = await untilCount(12, () =>
      app.svc.actions.call('__svc.webhooks.listDeliveries', id),
    )
    t.equal(all.length, 12, 'the action returns all')
  },
)
