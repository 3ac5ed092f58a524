import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { startProcess } from '../processes/process.ts'
import type { PublisherMethods } from './publisher-process.ts'

const BY_HAND = 'the event row and boss.insert by hand'
const PUBLISH = 'events.publish with db'

export const publishInTransaction: Benchmark = {
  name: 'publish-transaction',
  title:
    "An event published in a caller's transaction, against the two inserts that it stands for.",
  limitSeconds: 240,
  async run(bench: Bench): Promise<Finding[]> {
    const publisher = bench.owns(
      await startProcess<PublisherMethods>(new URL('publisher-process.ts', import.meta.url)),
    )
    await publisher.call('start', await bench.database())
    const count = bench.size(1000, 100)
    const contender = (name: string, kind: 'publish' | 'inserts') => ({
      name,
      async measure() {
        const figures = await publisher.call('withinTransactions', count, kind)
        await publisher.call('empty')
        return { ...figures }
      },
    })
    const measured = await interleave(
      [contender(BY_HAND, 'inserts'), contender(PUBLISH, 'publish')],
      { warmUps: 1, rounds: bench.rounds, tell: bench.tell },
    )
    const settings = { transactions: count, callers: 1, payload: '500 bytes' }
    const row = (name: string, figure: string) => ({
      name,
      samples: samplesOf(measured, name, figure),
    })
    return [
      {
        title: "In a caller's transaction",
        unit: 'round trips beside begin and commit',
        better: 'less',
        settings,
        rows: [
          row(BY_HAND, 'roundTrips'),
          { ...row(PUBLISH, 'roundTrips'), against: BY_HAND, goal: { atMost: 3 } },
        ],
      },
      {
        title: "In a caller's transaction",
        unit: 'transactions per second of one caller',
        better: 'more',
        settings,
        rows: [row(BY_HAND, 'perSecond'), { ...row(PUBLISH, 'perSecond'), against: BY_HAND }],
      },
    ]
  },
}
