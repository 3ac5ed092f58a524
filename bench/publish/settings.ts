import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { startHost } from '../delivery/stage.ts'
import { interleave, rowsOf } from '../measure.ts'

const CALLERS = 64
const PLAIN = 'order.created'
const CHECKED = 'order.checked'
const FILTERED = 'order.filtered'
const ONE_WEBHOOK = 'one webhook'
const WITH_SCHEMA = 'one webhook, payload checked against a schema'

export const publishSettings: Benchmark = {
  name: 'publish-settings',
  title: 'Events published with a schema, and to very many webhooks with filters, against neither.',
  limitSeconds: 900,
  async run(bench: Bench): Promise<Finding[]> {
    const webhooks = bench.size(10_000, 100)
    const host = await startHost(bench, {
      events: [PLAIN, CHECKED, FILTERED],
      checked: [CHECKED],
      worker: { enabled: false },
    })
    const url = 'http://127.0.0.1:9/'
    bench.tell(`registering ${webhooks} webhooks`)
    await host.call('register', [
      { url, events: [PLAIN] },
      { url, events: [CHECKED] },
      // One of them wants the events that are published.
      ...Array.from({ length: webhooks }, (_, index) => ({
        url,
        events: [FILTERED],
        filter: { 'payload.order': index === 0 ? { $gte: 0 } : { $lt: -index } },
      })),
    ])
    const publish = (name: string, event: string, count: number) => ({
      name,
      async measure() {
        const { startedAt, publishedAt } = await host.call('publish', [event], count, CALLERS)
        await host.call('empty')
        return { rate: count / ((publishedAt - startedAt) / 1000) }
      },
    })
    const count = bench.size(10_000, 500)
    const withFilters = `${webhooks} webhooks with filters`
    const measured = await interleave(
      [
        publish(ONE_WEBHOOK, PLAIN, count),
        publish(WITH_SCHEMA, CHECKED, count),
        publish(withFilters, FILTERED, count),
      ],
      bench,
      1,
    )
    const finding = (title: string, name: string, ratioAtLeast: number): Finding => ({
      title,
      unit: 'events per second',
      better: 'more',
      settings: { events: count, callers: CALLERS, payload: '500 bytes' },
      rows: rowsOf(measured, 'rate', {
        names: [ONE_WEBHOOK, name],
        against: ONE_WEBHOOK,
        goals: { [name]: { ratioAtLeast } },
      }),
    })
    return [
      finding('Publish with a schema', WITH_SCHEMA, 0.9),
      finding('Publish to filtered webhooks', withFilters, 0.5),
    ]
  },
}
