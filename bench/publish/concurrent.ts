import { besideOther } from '../beside.ts'
import type { Bench, Benchmark, Checkout, Finding } from '../benchmark.ts'
import type { HostMethods } from '../delivery/host-process.ts'
import { startByHand, startHost } from '../delivery/stage.ts'
import { interleave, rowsOf } from '../measure.ts'
import type { Process } from '../process.ts'

const CALLERS = 2000
const WANTED = 'order.created'
const UNWANTED = 'order.ignored'
const BARE = 'boss.insert, batches of 1000'
const PUBLISH = 'events.publish, one webhook wants it'
const PUBLISH_UNWANTED = 'events.publish, no webhook wants it'

export const publishConcurrent: Benchmark = {
  name: 'publish-concurrent',
  title: 'Events published by many callers at once, against batch inserts with pg-boss alone.',
  limitSeconds: 300,
  async run(bench: Bench): Promise<Finding[]> {
    const byHand = await startByHand(bench)
    await byHand.call('openQueue', await bench.database(), { partition: true })
    const count = bench.size(20_000, 2000)
    const publish = (host: Process<HostMethods>, name: string, event: string) => ({
      name,
      async measure() {
        const { startedAt, publishedAt } = await host.call('publish', [event], count, CALLERS)
        await host.call('empty')
        return { rate: count / ((publishedAt - startedAt) / 1000) }
      },
    })
    const insert = (name: string, batchesInFlight: number) => ({
      name,
      async measure() {
        const rate = await byHand.call('insert', count, batchesInFlight)
        await byHand.call('empty')
        return { rate }
      },
    })
    const contenders = [insert(BARE, 1), insert('boss.insert, two batches at a time', 2)]
    for (const checkout of bench.checkouts) {
      const host = await startPublisher(bench, checkout)
      contenders.push(
        publish(host, `${PUBLISH}${checkout.mark}`, WANTED),
        publish(host, `${PUBLISH_UNWANTED}${checkout.mark}`, UNWANTED),
      )
    }
    const measured = await interleave(contenders, bench, 2)
    const about = {
      title: 'Publish, stand-alone and concurrent',
      unit: 'events (jobs) per second',
      better: 'more',
      settings: { events: count, callers: CALLERS, payload: '500 bytes' },
    } as const
    return [
      {
        ...about,
        rows: rowsOf(measured, 'rate', {
          against: BARE,
          goals: { [PUBLISH]: { ratioAtLeast: 0.6 } },
        }),
      },
      ...besideOther(bench, measured, PUBLISH, 'rate', about),
    ]
  },
}

async function startPublisher(bench: Bench, checkout: Checkout): Promise<Process<HostMethods>> {
  const options = { events: [WANTED, UNWANTED], worker: { enabled: false } }
  const host = await startHost(bench, options, checkout)
  await host.call('register', [{ url: 'http://127.0.0.1:9/', events: [WANTED] }])
  return host
}
