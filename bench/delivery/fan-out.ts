import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { startHost, startReceiver } from './stage.ts'

interface Fan {
  name: string
  event: string
  webhooks: number
}

export const deliveryFanOut: Benchmark = {
  name: 'delivery-fanout',
  title: 'One event to one, to a hundred and to ten thousand webhooks.',
  limitSeconds: 600,
  async run(bench: Bench): Promise<Finding[]> {
    const hosts = receivingHosts()
    const receiver = await startReceiver(bench, hosts)
    const deliveries = bench.size(20_000, 1000)
    const most = bench.size(10_000, 500)
    const fans: Fan[] = [
      { name: '1 → 1', event: 'fan.1', webhooks: 1 },
      { name: '1 → 100', event: 'fan.100', webhooks: 100 },
      { name: `1 → ${most}`, event: 'fan.most', webhooks: most },
    ]
    const host = await startHost(bench, { events: fans.map(({ event }) => event) })
    for (const { event, webhooks } of fans) {
      await host.call(
        'register',
        Array.from({ length: webhooks }, (_, n) => ({
          url: receiver.at(`/${n}`, hosts[n % hosts.length]),
          events: [event],
        })),
      )
    }
    const measured = await interleave(
      fans.map(({ name, event, webhooks }) => ({
        name,
        async measure() {
          await receiver.call('reset')
          const [{ startedAt }, { lastAt }] = await Promise.all([
            host.call('publish', event, deliveries / webhooks, 1000),
            receiver.call('reached', deliveries, 60),
          ])
          const rate = deliveries / ((lastAt - startedAt) / 1000)
          await receiver.call('reset')
          const [single, arrivals] = await Promise.all([
            host.call('publish', event, 1, 1),
            receiver.call('reached', webhooks, 60),
          ])
          return {
            rate,
            first: arrivals.firstAt - single.startedAt,
            last: arrivals.lastAt - single.startedAt,
          }
        },
      })),
      { warmUps: 1, rounds: bench.rounds, tell: bench.tell },
    )
    const one = fans[0]?.name ?? ''
    const rows = (figure: string) =>
      fans.map(({ name }) => ({ name, samples: samplesOf(measured, name, figure) }))
    const settings = { deliveries, payload: '500 bytes', 'receiving hosts': hosts.length }
    return [
      {
        title: 'Fan-out',
        unit: 'deliveries per second',
        better: 'more',
        settings,
        rows: rows('rate').map((row) => (row.name === one ? row : { ...row, against: one })),
      },
      {
        title: 'Fan-out of a single event: the first receives it after',
        unit: 'ms',
        better: 'less',
        settings,
        rows: rows('first'),
      },
      {
        title: 'Fan-out of a single event: the last receives it after',
        unit: 'ms',
        better: 'less',
        settings,
        rows: rows('last'),
      },
    ]
  },
}

/** All of 127.0.0.0/8 is loopback on Linux, elsewhere one address of it. */
function receivingHosts(): string[] {
  if (process.platform !== 'linux') return ['127.0.0.1']
  return Array.from({ length: 100 }, (_, n) => `127.0.1.${n + 1}`)
}
