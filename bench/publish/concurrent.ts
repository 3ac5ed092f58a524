import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { startProcess } from '../processes/process.ts'
import type { PublisherMethods } from './publisher-process.ts'

const CALLERS = 2000
const BARE = 'boss.insert, batches of 1000'
const BARE_TWICE = 'boss.insert, two batches at a time'
const WANTED = 'events.publish, one webhook wants it'
const UNWANTED = 'events.publish, nobody wants it'

export const publishConcurrent: Benchmark = {
  name: 'publish-concurrent',
  title: 'Events published by many callers at once, against bare batch inserts into pg-boss.',
  limitSeconds: 300,
  async run(bench: Bench): Promise<Finding[]> {
    const publisher = bench.owns(
      await startProcess<PublisherMethods>(new URL('publisher-process.ts', import.meta.url)),
    )
    await publisher.call('start', await bench.database())
    const count = bench.size(20_000, 2000)
    const publish = (name: string, event: string) => ({
      name,
      measure: () => turn(() => publisher.call('publish', event, count, CALLERS)),
    })
    const insert = (name: string, inFlight: number) => ({
      name,
      measure: () => turn(() => publisher.call('insert', count, inFlight)),
    })
    async function turn(run: () => Promise<number>) {
      const rate = await run()
      await publisher.call('empty')
      return { rate }
    }
    const measured = await interleave(
      [
        insert(BARE, 1),
        insert(BARE_TWICE, 2),
        publish(WANTED, 'order.created'),
        publish(UNWANTED, 'order.ignored'),
      ],
      { warmUps: 2, rounds: bench.rounds, tell: bench.tell },
    )
    const row = (name: string) => ({ name, samples: samplesOf(measured, name, 'rate') })
    return [
      {
        title: 'Publish, stand-alone and concurrent',
        unit: 'events (jobs) per second',
        better: 'more',
        settings: { events: count, callers: CALLERS, payload: '500 bytes' },
        rows: [
          row(BARE),
          { ...row(BARE_TWICE), against: BARE },
          { ...row(WANTED), against: BARE, goal: { ratioAtLeast: 0.6 } },
          { ...row(UNWANTED), against: BARE },
        ],
      },
    ]
  },
}
