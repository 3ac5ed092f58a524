import type { Bench, Benchmark, Checkout, Finding } from '../benchmark.ts'
import { besideOther } from '../beside.ts'
import { growthOf, interleave, rowsOf, type Contender } from '../measure.ts'
import { startHost, startReceiver, type Receiver } from './stage.ts'

const EVENT = 'order.created'
/** Deliveries a second. */
const GOAL = 12_000

export const deliveryFanOut: Benchmark = {
  name: 'delivery-fan-out',
  title: 'Events that go to 100 and to 10 000 webhooks, from the publish to the last delivery.',
  limitSeconds: 1800,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const contenders: Contender[] = []
    for (const checkout of bench.checkouts) {
      contenders.push(
        await fanOut(bench, receiver, checkout, bench.size(100, 10), bench.size(200, 10)),
        await fanOut(bench, receiver, checkout, bench.size(10_000, 100), bench.size(2, 1)),
      )
    }
    const ours = contenders.slice(-2).map(({ name }) => name)
    const measured = await interleave(contenders, bench, bench.quick ? 0 : 1)
    const goals = Object.fromEntries(ours.map((name) => [name, { atLeast: GOAL }]))
    const settings = { payload: '500 bytes' }
    return [
      {
        title: 'From the publish to the last delivery',
        unit: 'deliveries per second',
        better: 'more',
        settings,
        rows: rowsOf(measured, 'rate', { goals }),
      },
      ...['host', 'Postgres'].map((who): Finding => ({
        title: `CPU of a delivery, ${who}`,
        unit: 'µs of CPU per delivery',
        better: 'less',
        settings,
        rows: rowsOf(measured, who),
      })),
      ...ours.flatMap((name) =>
        besideOther(bench, measured, name, 'rate', {
          title: 'From the publish to the last delivery',
          unit: 'deliveries per second',
          better: 'more',
          settings,
        }),
      ),
    ]
  },
}

/** `events` events, published at once. */
async function fanOut(
  bench: Bench,
  receiver: Receiver,
  checkout: Checkout,
  webhooks: number,
  events: number,
): Promise<Contender> {
  const database = await bench.database()
  const host = await startHost(bench, { events: [EVENT], database }, checkout)
  const urls = Array.from({ length: webhooks }, (_, index) => receiver.at(`/${index}`))
  await host.call(
    'register',
    urls.map((url) => ({ url, events: [EVENT] })),
  )
  await host.stop()
  return {
    name: `1 → ${webhooks}${checkout.mark}`,
    // With a host of its own: the polls of the other one would be counted with it.
    async measure() {
      const host = await startHost(bench, { events: [EVENT], database }, checkout)
      const counters = { host: host.cpu, Postgres: bench.postgresCpu }
      const count = webhooks * events
      const deliverAll = async () => {
        await receiver.call('reset')
        return Promise.all([
          host.call('publish', [EVENT], events, events),
          receiver.call('reached', count, 120),
        ])
      }
      // In a new process much of the time is that of compiling.
      await deliverAll()
      const { result, growth } = await growthOf(counters, deliverAll)
      await host.stop()
      const [{ startedAt }, { lastAt }] = result
      for (const [who, used] of Object.entries(growth)) growth[who] = used / count
      return { ...growth, rate: count / ((lastAt - startedAt) / 1000) }
    },
  }
}
