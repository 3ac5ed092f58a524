import type { Bench, Benchmark, Checkout, Finding } from './benchmark.ts'
import type { Subscription } from './delivery/host-process.ts'
import { startHost } from './delivery/stage.ts'
import { growthOf, interleave, rowsOf, type Figures } from './measure.ts'

const CALLERS = 1000
const RATE = 30

/** Duration of the handler in ms, how many run at a time, and events of a burst. */
const CASES = [
  [0, 10, 20_000],
  [0, 1, 5000],
  [20, 10, 4000],
  [20, 1, 300],
] as const

interface Case extends Subscription {
  name: string
  events: number
}

export const subscribe: Benchmark = {
  name: 'subscribe',
  title: 'Durable subscriptions: events published and handled in one process.',
  limitSeconds: 1800,
  async run(bench: Bench): Promise<Finding[]> {
    const seconds = bench.size(6, 1)
    const cases = CASES.slice(0, bench.size(CASES.length, 1)).map(
      ([takesMs, concurrency, events]): Case => ({
        name: `handler of ${takesMs} ms, ${concurrency} at a time`,
        event: `takes.${takesMs}.by.${concurrency}`,
        takesMs,
        concurrency,
        events: bench.size(events, Math.ceil(events / 40)),
      }),
    )
    const contenders = []
    for (const checkout of bench.checkouts) {
      for (const one of cases) {
        const database = await bench.database()
        contenders.push({
          name: `${one.name}${checkout.mark}`,
          measure: () => turn(bench, checkout, database, one, seconds),
        })
      }
    }
    const measured = await interleave(contenders, bench, bench.quick ? 0 : 1)
    const other = bench.checkouts.find(({ mark }) => mark !== '')
    const rows = (figure: string) =>
      cases.flatMap(({ name }) => {
        const names = bench.checkouts.map(({ mark }) => `${name}${mark}`)
        return rowsOf(measured, figure, {
          names,
          ...(other ? { against: `${name}${other.mark}` } : {}),
        })
      })
    const burst = { callers: CALLERS, payload: '500 bytes' }
    const steady = { seconds, payload: '500 bytes' }
    return [
      {
        title: 'Published as fast as possible, and handled',
        unit: 'events per second',
        better: 'more',
        settings: burst,
        rows: rows('rate'),
      },
      {
        title: 'CPU of the host and of Postgres',
        unit: 'µs of CPU per event',
        better: 'less',
        settings: burst,
        rows: rows('cpu'),
      },
      ...['p50', 'p99'].map((figure): Finding => ({
        title: `From publish to handler at ${RATE} events per second, ${figure}`,
        unit: 'ms',
        better: 'less',
        settings: steady,
        rows: rows(figure),
      })),
    ]
  },
}

/** With a host of its own: the polls of other subscriptions would be counted with it. */
async function turn(
  bench: Bench,
  checkout: Checkout,
  database: string,
  { event, concurrency, takesMs, events }: Case,
  seconds: number,
): Promise<Figures> {
  const subscriptions = [{ event, concurrency, takesMs }]
  const host = await startHost(bench, { database, events: [event], subscriptions }, checkout)
  const handle = async (count: number, publish: () => Promise<unknown>) => {
    await host.call('resetHandled')
    const [, { lastAt }] = await Promise.all([publish(), host.call('handled', count, 120)])
    return lastAt
  }
  const warmUp = Math.ceil(events / 5)
  await handle(warmUp, () => host.call('publish', [event], warmUp, CALLERS))

  await handle(RATE * seconds, () => host.call('publishAtRate', [event], RATE, seconds))
  const { p50, p99 } = await host.call('handledLatency')

  const counters = { host: host.cpu, postgres: bench.postgresCpu }
  let startedAt = Number.NaN
  const { result: lastAt, growth } = await growthOf(counters, () =>
    handle(events, async () => {
      const published = await host.call('publish', [event], events, CALLERS)
      startedAt = published.startedAt
    }),
  )
  await host.stop()
  const { host: ofHost = Number.NaN, postgres = Number.NaN } = growth
  return {
    rate: events / ((lastAt - startedAt) / 1000),
    cpu: (ofHost + postgres) / events,
    p50,
    p99,
  }
}
