import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { interleave, rowsOf } from '../measure.ts'
import { startHost, startReceiver, type Receiver } from './stage.ts'

/** Four healthy receivers, and a fifth that is healthy too, or dead. Each gets a fifth. */
const HEALTHY = ['receiver.1', 'receiver.2', 'receiver.3', 'receiver.4']
const FIFTH = 'receiver.5'
const EVENTS = [...HEALTHY, FIFTH]
const SILENT = '/silent'
const RATE = 500
const TIMEOUT_MS = 5000
const CALLERS = 1000

const NONE_DEAD = 'none dead'
const ONE_DEAD = 'one dead'

export const deliveryFairness: Benchmark = {
  name: 'delivery-fairness',
  title: 'What a dead receiver that a fifth of the events go to costs the healthy ones.',
  limitSeconds: 1200,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const load = { seconds: bench.size(15, 2), count: bench.size(30_000, 1000) }
    const measured = await interleave(
      [
        { name: NONE_DEAD, measure: () => turn(bench, receiver, '/fifth', load) },
        { name: ONE_DEAD, measure: () => turn(bench, receiver, SILENT, load) },
      ],
      bench,
      bench.quick ? 0 : 1,
    )
    const rows = (figure: string, ratioAtLeast?: number) =>
      rowsOf(measured, figure, {
        against: NONE_DEAD,
        goals: ratioAtLeast === undefined ? {} : { [ONE_DEAD]: { ratioAtLeast } },
      })
    const settings = { receivers: 5, deliveryTimeoutMs: TIMEOUT_MS, payload: '500 bytes' }
    const { seconds, count } = load
    return [
      {
        title: 'Healthy receivers, published as fast as possible',
        unit: 'deliveries to healthy receivers per second',
        better: 'more',
        settings: { ...settings, events: count, callers: CALLERS },
        rows: rows('rate', 0.95),
      },
      {
        title: `Healthy receivers at ${RATE} events per second, p99`,
        unit: 'ms',
        better: 'less',
        settings: { ...settings, seconds },
        rows: rows('p99', 0.5),
      },
      {
        title: `Healthy receivers at ${RATE} events per second, p50`,
        unit: 'ms',
        better: 'less',
        settings: { ...settings, seconds },
        rows: rows('p50'),
      },
    ]
  },
}

/** With a host and a database of its own: retries to the dead receiver must not reach the next turn. */
async function turn(
  bench: Bench,
  receiver: Receiver,
  fifthPath: string,
  { seconds, count }: { seconds: number; count: number },
) {
  const host = await startHost(bench, { events: EVENTS, deliveryTimeoutMs: TIMEOUT_MS })
  const webhooks = EVENTS.map((event) => ({
    url: receiver.at(event === FIFTH ? fifthPath : `/${event}`),
    events: [event],
  }))
  await host.call('register', webhooks)
  const healthyPaths = HEALTHY.map((event) => `/${event}`)
  const toHealthy = (published: number) => (published * HEALTHY.length) / EVENTS.length
  const answered = (published: number) => (fifthPath === SILENT ? toHealthy(published) : published)

  await receiver.call('reset')
  await Promise.all([
    host.call('publishAtRate', EVENTS, RATE, seconds),
    receiver.call('reached', answered(RATE * seconds), seconds + 60),
  ])
  const { p50, p99 } = await receiver.call('latency', healthyPaths)

  await receiver.call('reset')
  const [{ startedAt }] = await Promise.all([
    host.call('publish', EVENTS, count, CALLERS),
    receiver.call('reached', answered(count), 120),
  ])
  const lastAt = await receiver.call('lastAt', healthyPaths)
  await host.stop()
  return { p50, p99, rate: toHealthy(count) / ((lastAt - startedAt) / 1000) }
}
