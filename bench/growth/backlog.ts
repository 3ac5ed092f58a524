import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { startReceiver } from '../delivery/stage.ts'
import { waitingDatabase, whileJobsWait, type Waiting } from './waiting.ts'

export const growthBacklog: Benchmark = {
  name: 'growth-backlog',
  title: 'Published and delivered per second with a million jobs waiting, against a thousand.',
  limitSeconds: 1200,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const many = bench.size(1_000_000, 20_000)
    const pairs = [100, 1].map((webhooks): [Waiting, Waiting] => [
      { name: `1000 waiting, webhooks: ${webhooks}`, webhooks, jobs: 1000 },
      { name: `${many} waiting, webhooks: ${webhooks}`, webhooks, jobs: many },
    ])
    const contenders = []
    for (const waiting of pairs.flat()) {
      const database = await waitingDatabase(bench, receiver, waiting)
      contenders.push({
        name: waiting.name,
        measure: () => whileJobsWait(bench, receiver, database, waiting),
      })
    }
    const measured = await interleave(contenders, {
      warmUps: bench.quick ? 0 : 1,
      rounds: Math.min(bench.rounds, 5),
      tell: bench.tell,
    })
    return [
      {
        title: 'Publish and deliver while jobs wait',
        unit: 'deliveries per second',
        better: 'more',
        settings: { payload: '500 bytes' },
        rows: pairs.flatMap(([few, lots]) => [
          { name: few.name, samples: samplesOf(measured, few.name, 'rate') },
          {
            name: lots.name,
            samples: samplesOf(measured, lots.name, 'rate'),
            against: few.name,
            goal: { ratioAtLeast: 0.8 },
          },
        ]),
      },
    ]
  },
}
