import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { startReceiver } from '../delivery/stage.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { waitingDatabase, whileJobsWait, type Waiting } from './waiting.ts'

/** As the pump leaves a job that failed three times: in the slow lane, for an hour. */
const RETRY = {
  state: `'retry'`,
  priority: '-1',
  retry_count: '3',
  started_on: 'now()',
  start_after: `now() + interval '1 hour' + n * interval '1 millisecond'`,
}

export const growthRetries: Benchmark = {
  name: 'growth-retries',
  title: 'Published and delivered per second while 300 000 retries wait for their time.',
  limitSeconds: 600,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const many = bench.size(300_000, 10_000)
    const none: Waiting = { name: 'none waits', webhooks: 100, jobs: 0 }
    const lots: Waiting = {
      name: `${many} retries wait`,
      webhooks: 100,
      jobs: many,
      columns: RETRY,
    }
    const contenders = []
    for (const waiting of [none, lots]) {
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
        title: 'Publish and deliver while retries wait',
        unit: 'deliveries per second',
        better: 'more',
        settings: { webhooks: 100, payload: '500 bytes' },
        rows: [
          { name: none.name, samples: samplesOf(measured, none.name, 'rate') },
          {
            name: lots.name,
            samples: samplesOf(measured, lots.name, 'rate'),
            against: none.name,
            goal: { ratioAtLeast: 0.8 },
          },
        ],
      },
    ]
  },
}
