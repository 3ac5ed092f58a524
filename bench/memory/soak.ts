import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { startHost, startReceiver } from '../delivery/stage.ts'
import { now } from '../measure/clock.ts'
import { rowsByPart, sampleUntilDone } from './samples.ts'

const EVENT = 'order.created'
const RATE = 1000

export const memorySoak: Benchmark = {
  name: 'memory-soak',
  title: 'The memory of a process under a steady load: a minute of it, ten with --long.',
  limitSeconds: 240,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const host = await startHost(bench, { events: [EVENT] })
    await host.call('register', [{ url: receiver.at('/ok'), events: [EVENT] }])
    const seconds = bench.long ? 600 : bench.size(60, 3)
    const startedAt = now()
    const load = loadFor(seconds)
    const samples = await sampleUntilDone(
      host,
      async () => (now() - startedAt) / 1000 / seconds,
      seconds + 30,
    )
    await load
    const { p50, p99 } = await receiver.call('latency')
    const settings = { seconds, 'events per second': RATE, payload: '500 bytes' }
    return [
      {
        title: 'Memory (RSS) under steady load, by how much of the time has passed',
        unit: 'MiB',
        better: 'less',
        settings,
        rows: rowsByPart(samples, 'rssMegabytes'),
      },
      {
        title: 'Latency over the whole time',
        unit: 'ms',
        better: 'less',
        settings,
        rows: [
          { name: 'p50', samples: [p50] },
          { name: 'p99', samples: [p99] },
        ],
      },
    ]

    async function loadFor(duration: number): Promise<void> {
      // In pieces: one call would hold a promise for each event until the end.
      for (let left = duration; left > 0; left -= 10) {
        await host.call('publishAtRate', [EVENT], RATE, Math.min(10, left))
      }
    }
  },
}
