import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { startReceiver } from '../delivery/stage.ts'
import { interleave, rowsOf, type Contender } from '../measure.ts'
import { waitingDatabase, whileJobsWait, type Waiting } from './waiting.ts'

/** How a job waits after it failed three times: in the retry lane, for an hour. */
const RETRY = {
  state: `'retry'`,
  priority: '-1',
  retry_count: '3',
  started_on: 'now()',
  start_after: `now() + interval '1 hour' + n * interval '1 millisecond'`,
}

export const growthBacklog: Benchmark = {
  name: 'growth-backlog',
  title: 'Published and delivered per second while a million jobs or 300 000 retries wait.',
  limitSeconds: 1800,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const many = bench.size(1_000_000, 20_000)
    const retries = bench.size(300_000, 10_000)
    const backlogs = [100, 1].map((webhooks): [Waiting, Waiting] => [
      { name: `1000 waiting, webhooks: ${webhooks}`, webhooks, jobs: 1000 },
      { name: `${many} waiting, webhooks: ${webhooks}`, webhooks, jobs: many },
    ])
    const ofRetries: [Waiting, Waiting] = [
      { name: 'none waits', webhooks: 100, jobs: 0 },
      { name: `${retries} retries wait`, webhooks: 100, jobs: retries, columns: RETRY },
    ]
    const contenders: Contender[] = []
    for (const waiting of [...backlogs.flat(), ...ofRetries]) {
      const database = await waitingDatabase(bench, receiver, waiting)
      contenders.push({
        name: waiting.name,
        measure: () => whileJobsWait(bench, receiver, database, waiting),
      })
    }
    const rounds = Math.min(bench.rounds, 5)
    const measured = await interleave(contenders, { ...bench, rounds }, bench.quick ? 0 : 1)
    const rowsOfPair = ([few, lots]: [Waiting, Waiting]) =>
      rowsOf(measured, 'rate', {
        names: [few.name, lots.name],
        against: few.name,
        goals: { [lots.name]: { ratioAtLeast: 0.8 } },
      })
    return [
      {
        title: 'Publish and deliver while jobs wait',
        unit: 'deliveries per second',
        better: 'more',
        settings: { payload: '500 bytes' },
        rows: backlogs.flatMap(rowsOfPair),
      },
      {
        title: 'Publish and deliver while retries wait',
        unit: 'deliveries per second',
        better: 'more',
        settings: { webhooks: 100, payload: '500 bytes' },
        rows: rowsOfPair(ofRetries),
      },
    ]
  },
}
