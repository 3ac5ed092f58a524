import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { startHost, startReceiver } from '../delivery/stage.ts'
import { waitingDatabase } from '../growth/waiting.ts'
import { now } from '../measure/clock.ts'
import { rowsByPart, sampleUntilDone } from './samples.ts'

const WEBHOOKS = 100

export const memoryBacklog: Benchmark = {
  name: 'memory-backlog',
  title: 'The memory of a process that works off a backlog of a million deliveries.',
  limitSeconds: 900,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const jobs = bench.size(1_000_000, 5000)
    const database = await waitingDatabase(bench, receiver, { name: '', webhooks: WEBHOOKS, jobs })
    const host = await startHost(bench, {
      database,
      events: Array.from({ length: WEBHOOKS }, (_, n) => `event.${n}`),
    })
    const startedAt = now()
    const samples = await sampleUntilDone(
      host,
      async () => {
        const count = await receiver.call('count')
        bench.tell(`${count} delivered`)
        return count / jobs
      },
      600,
    )
    const seconds = (now() - startedAt) / 1000
    const settings = { jobs, webhooks: WEBHOOKS, 'drained in s': Math.round(seconds) }
    return [
      {
        title: 'Memory (RSS) while a backlog is worked off, by how much of it is done',
        unit: 'MiB',
        better: 'less',
        settings,
        rows: rowsByPart(samples, 'rssMegabytes'),
      },
      {
        title: 'The backlog worked off',
        unit: 'deliveries per second',
        better: 'more',
        settings,
        rows: [{ name: 'from the first to the last', samples: [jobs / seconds] }],
      },
    ]
  },
}
