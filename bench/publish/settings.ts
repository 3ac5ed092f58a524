import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { startHost } from '../delivery/stage.ts'
import { interleave, rowsOf } from '../measure.ts'

const CALLERS = 64
const PLAIN = 'order.created'
const CHECKED = 'order.checked'
const FILTERED = 'order.filtered'
const BY_VALUE = 'order.by-value'
const UNFILTERED = 'order.to-all'
const ONE_WEBHOOK = 'one webhook'
const WITH_SCHEMA = 'one webhook, payload checked against a schema'

export const publishSettings: Benchmark = {
  name: 'publish-settings',
  title:
    'Events published with a schema, against without; to very many webhooks with filters, against without.',
  limitSeconds: 900,
  async run(bench: Bench): Promise<Finding[]> {
    const webhooks = bench.size(10_000, 100)
    const host = await startHost(bench, {
      events: [PLAIN, CHECKED, FILTERED, BY_VALUE, UNFILTERED],
      checked: [CHECKED],
      worker: { enabled: false },
    })
    const url = 'http://127.0.0.1:9/'
    bench.tell(`registering ${webhooks} webhooks`)
    await host.call('register', [
      { url, events: [PLAIN] },
      { url, events: [CHECKED] },
      ...Array.from({ length: webhooks }, () => ({ url, events: [UNFILTERED] })),
      // One of them wants the events that are published: all are asked, ...
      ...Array.from({ length: webhooks }, (_, index) => ({
        url,
        events: [FILTERED],
        filter: { 'payload.order': index === 0 ? { $gte: 0 } : { $lt: -index } },
      })),
      // ... or looked up by the value that each wants.
      ...Array.from({ length: webhooks }, (_, index) => ({
        url,
        events: [BY_VALUE],
        filter: { 'payload.order': index },
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
    const few = 20
    const withFilters = `${webhooks} webhooks, one filter lets it through`
    const withoutFilters = `${webhooks} webhooks without filters`
    const byValue = `${webhooks} webhooks, one wants the value that the event has`
    // Apart from each other: the first pair leaves ten thousand dead jobs, the others hundreds of
    // thousands, and who comes next would pay for them.
    const ofSchema = await interleave(
      [publish(ONE_WEBHOOK, PLAIN, count), publish(WITH_SCHEMA, CHECKED, count)],
      bench,
      1,
    )
    const ofFilters = await interleave(
      [
        publish(withoutFilters, UNFILTERED, few),
        publish(withFilters, FILTERED, few),
        publish(byValue, BY_VALUE, few),
      ],
      bench,
      1,
    )
    const unit = 'events per second'
    const better = 'more'
    return [
      {
        title: 'Publish with a schema',
        unit,
        better,
        settings: { events: count, callers: CALLERS, payload: '500 bytes' },
        rows: rowsOf(ofSchema, 'rate', {
          names: [ONE_WEBHOOK, WITH_SCHEMA],
          against: ONE_WEBHOOK,
          goals: { [WITH_SCHEMA]: { ratioAtLeast: 0.9 } },
        }),
      },
      {
        title: 'Publish to filtered webhooks',
        unit,
        better,
        settings: { events: few, callers: CALLERS, payload: '500 bytes' },
        rows: rowsOf(ofFilters, 'rate', {
          names: [withoutFilters, withFilters, byValue],
          against: withoutFilters,
          goals: { [withFilters]: { ratioAtLeast: 0.5 }, [byValue]: { ratioAtLeast: 0.5 } },
        }),
      },
    ]
  },
}
