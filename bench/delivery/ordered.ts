/** What an order costs: deliveries to a webhook that is `ordered`, beside those to one that is not. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Benchmark, Checkout, Finding } from '../benchmark.ts'
import { growthOf, interleave, rowsOf, type Figures } from '../measure.ts'
import type { Process } from '../process.ts'
import { now } from '../traffic.ts'
import type { HostMethods } from './host-process.ts'
import { startHost, startReceiver, type Receiver } from './stage.ts'

const EVENT = 'order.created'
const CALLERS = 100
/** Steady rates, in events per second. */
const RATES = [50, 200]
/** The last deliveries are settled in this time after they arrive. */
const SETTLE_MS = 1000
const PLAIN = 'without an order'
const ORDERED = 'ordered'
const BURST = 'as fast as possible'
const nameOf = (when: string, figure: string): string => `${when}: ${figure}`
const atRate = (rate: number): string => `${rate} a second`
/** As a ratio: above 1 is better. */
const MOST_CPU = { ratioAtLeast: 1 / 1.5 }

interface Amount {
  /** Published as fast as possible. */
  events: number
  /** At each steady rate. */
  seconds: number
}

export const deliveryOrdered: Benchmark = {
  name: 'delivery-ordered',
  title: 'Deliveries to an ordered webhook, beside those to one without an order.',
  limitSeconds: 1200,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const amount = { events: bench.size(6000, 300), seconds: bench.size(10, 1) }
    const contenders = []
    for (const checkout of bench.checkouts) {
      for (const name of [PLAIN, ORDERED]) {
        const database = await bench.database()
        const ordered = name === ORDERED
        contenders.push({
          name: `${name}${checkout.mark}`,
          measure: () => turn(bench, receiver, { checkout, database, ordered }, amount),
        })
      }
    }
    const measured = await interleave(contenders, bench, bench.quick ? 0 : 1)
    const finding = (when: string, figure: string, unit: string, better: Better): Finding => ({
      title: `${when}, ${figure}`,
      unit,
      better,
      settings: { payload: '500 bytes', webhooks: 1, ...settingsOf(when, amount) },
      rows: rowsOf(measured, nameOf(when, figure), {
        against: PLAIN,
        goals: figure === 'CPU' ? { [ORDERED]: MOST_CPU } : {},
      }),
    })
    const steady = RATES.map(atRate)
    return [
      finding(BURST, 'rate', 'deliveries per second', 'more'),
      ...[BURST, ...steady].flatMap((when) => [
        finding(when, 'CPU', 'ms of CPU per delivery, process and Postgres', 'less'),
        finding(when, 'statements', 'statements per delivery', 'less'),
      ]),
      ...steady.flatMap((when) =>
        ['p50', 'p99'].map((figure) =>
          finding(when, figure, 'ms from publish to received', 'less'),
        ),
      ),
    ]
  },
}

type Better = Finding['better']

const settingsOf = (when: string, { events, seconds }: Amount) =>
  when === BURST ? { events, callers: CALLERS } : { seconds }

/** With a host of its own: the polls of others would be counted with it. */
async function turn(
  bench: Bench,
  receiver: Receiver,
  { checkout, database, ordered }: { checkout: Checkout; database: string; ordered: boolean },
  { events, seconds }: Amount,
): Promise<Figures> {
  const host = await startHost(bench, { events: [EVENT], database }, checkout)
  await host.call('registerOnce', { url: receiver.at('/ordered'), events: [EVENT], ordered })
  const figures: Figures = {}
  const measure = async (when: string, count: number, publish: () => Promise<unknown>) => {
    const costs = await costsOf(bench, receiver, host, count, publish)
    for (const [figure, value] of Object.entries(costs)) figures[nameOf(when, figure)] = value
  }
  const burst = (count: number) => () => host.call('publish', [EVENT], count, CALLERS)
  await costsOf(bench, receiver, host, events / 4, burst(events / 4))
  await measure(BURST, events, burst(events))
  for (const rate of RATES) {
    await measure(atRate(rate), rate * seconds, () =>
      host.call('publishAtRate', [EVENT], rate, seconds),
    )
  }
  await host.stop()
  return figures
}

async function costsOf(
  bench: Bench,
  receiver: Receiver,
  host: Process<HostMethods>,
  count: number,
  publish: () => Promise<unknown>,
): Promise<Figures> {
  await receiver.call('reset')
  const counters = {
    host: host.cpu,
    Postgres: bench.postgresCpu,
    statements: () => host.call('statements'),
  }
  const startedAt = now()
  const { result: lastAt, growth } = await growthOf(counters, async () => {
    const [reached] = await Promise.all([receiver.call('reached', count, 300), publish()])
    await pause(SETTLE_MS)
    return reached.lastAt
  })
  const { host: ofHost = Number.NaN, Postgres = Number.NaN, statements = Number.NaN } = growth
  const { p50, p99 } = await receiver.call('latency')
  return {
    rate: count / ((lastAt - startedAt) / 1000),
    CPU: (ofHost + Postgres) / 1000 / count,
    statements: statements / count,
    p50,
    p99,
  }
}
