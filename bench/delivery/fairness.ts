import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { startHost, startReceiver, type Receiver } from './stage.ts'

/** Four healthy endpoints, and a fifth that takes a fifth of the events: healthy too, or dead. */
const HEALTHY = ['endpoint.1', 'endpoint.2', 'endpoint.3', 'endpoint.4']
const FIFTH = 'endpoint.5'
const NONE_DEAD = 'none dead'
const ONE_DEAD = 'one dead'
const RATE = 500
const TIMEOUT_MS = 5000
const CALLERS = 1000

export const deliveryFairness: Benchmark = {
  name: 'delivery-fairness',
  title: 'What a dead endpoint that a fifth of the events go to costs the healthy ones.',
  limitSeconds: 1200,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const seconds = bench.size(15, 2)
    const count = bench.size(30_000, 1000)
    const measured = await interleave(
      [
        { name: NONE_DEAD, measure: () => turn(bench, receiver, '/fifth', { seconds, count }) },
        { name: ONE_DEAD, measure: () => turn(bench, receiver, '/silent', { seconds, count }) },
      ],
      { warmUps: bench.quick ? 0 : 1, rounds: bench.rounds, tell: bench.tell },
    )
    const rows = (figure: string) => [
      { name: NONE_DEAD, samples: samplesOf(measured, NONE_DEAD, figure) },
      { name: ONE_DEAD, samples: samplesOf(measured, ONE_DEAD, figure), against: NONE_DEAD },
    ]
    const withGoal = (figure: string, ratioAtLeast: number) =>
      rows(figure).map((row) => (row.against ? { ...row, goal: { ratioAtLeast } } : row))
    const settings = {
      endpoints: 5,
      deliveryTimeoutMs: TIMEOUT_MS,
      payload: '500 bytes',
    }
    return [
      {
        title: 'Healthy endpoints, published as fast as it goes',
        unit: 'deliveries to healthy endpoints per second',
        better: 'more',
        settings: { ...settings, events: count, callers: CALLERS },
        rows: withGoal('rate', 0.95),
      },
      {
        title: `Healthy endpoints at ${RATE} events per second, p99`,
        unit: 'ms',
        better: 'less',
        settings: { ...settings, seconds },
        rows: withGoal('p99', 0.5),
      },
      {
        title: `Healthy endpoints at ${RATE} events per second, p50`,
        unit: 'ms',
        better: 'less',
        settings: { ...settings, seconds },
        rows: rows('p50'),
      },
    ]
  },
}

/** On a host and a database of its own: the retries of the dead endpoint must not reach the next turn. */
async function turn(
  bench: Bench,
  receiver: Receiver,
  fifthPath: string,
  { seconds, count }: { seconds: number; count: number },
) {
  const events = [...HEALTHY, FIFTH]
  const host = await startHost(bench, { events, deliveryTimeoutMs: TIMEOUT_MS })
  await host.call(
    'register',
    events.map((event) => ({
      url: receiver.at(event === FIFTH ? fifthPath : `/${event}`),
      events: [event],
    })),
  )
  const paths = HEALTHY.map((event) => `/${event}`)
  const expected = (published: number) =>
    fifthPath === '/silent' ? (published * HEALTHY.length) / events.length : published
  await receiver.call('reset')
  await Promise.all([
    host.call('publishAtRate', events, RATE, seconds),
    receiver.call('reached', expected(RATE * seconds), seconds + 60),
  ])
  const { p50, p99 } = await receiver.call('latency', paths)

  await receiver.call('reset')
  const [{ startedAt }] = await Promise.all([
    host.call('publishInTurn', events, count, CALLERS),
    receiver.call('reached', expected(count), 120),
  ])
  const { lastAt } = await receiver.call('arrivals', paths)
  await host.stop()
  const healthy = (count * HEALTHY.length) / events.length
  return { p50, p99, rate: healthy / ((lastAt - startedAt) / 1000) }
}
