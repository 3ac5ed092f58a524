import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { startProcess } from '../processes/process.ts'
import type { Usage } from '../processes/usage.ts'
import type { BarePostsMethods } from './bare-posts-process.ts'
import { startHost, startReceiver } from './stage.ts'
import { FASTEST, FIRST, startBossWork } from './work-settings.ts'

const EVENT = 'order.created'
const CALLERS = 1000
const BARE = 'undici alone, POST after POST'
const SVC = 'svc: publish to received'
const WORK_FIRST = 'a first boss.work() handler'
const WORK_FASTEST = 'boss.work() with its fastest settings'

export const deliveryThroughput: Benchmark = {
  name: 'delivery-throughput',
  title: 'Events published, delivered and received in one process, one webhook.',
  limitSeconds: 600,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const bare = bench.owns(
      await startProcess<BarePostsMethods>(new URL('bare-posts-process.ts', import.meta.url)),
    )
    await bare.call('start', receiver.at(''))
    const host = await startHost(bench, { events: [EVENT] })
    await host.call('register', [{ url: receiver.at('/svc'), events: [EVENT] }])
    const first = await startBossWork(bench, receiver.at('/first'), FIRST)
    const fastest = await startBossWork(bench, receiver.at('/fastest'), FASTEST)

    const contender = (
      name: string,
      process: { call(method: 'usage'): Promise<Usage> },
      count: number,
      start: (count: number) => Promise<{ startedAt: number }>,
    ) => ({
      name,
      count,
      async measure() {
        await receiver.call('reset')
        const before = await used(process)
        const [{ startedAt }, { lastAt }] = await Promise.all([
          start(count),
          receiver.call('reached', count, 60),
        ])
        const after = await used(process)
        return {
          rate: count / ((lastAt - startedAt) / 1000),
          sender: (after.sender - before.sender) / count,
          postgres: (after.postgres - before.postgres) / count,
          receiver: (after.receiver - before.receiver) / count,
        }
      },
    })
    const used = async (process: { call(method: 'usage'): Promise<Usage> }) => ({
      sender: (await process.call('usage')).cpuMicroseconds,
      postgres: await bench.postgresCpu(),
      receiver: (await receiver.call('usage')).cpuMicroseconds,
    })
    const contenders = [
      contender(BARE, bare, bench.size(60_000, 4000), (n) => bare.call('post', '/bare', n)),
      contender(SVC, host, bench.size(30_000, 2000), (n) =>
        host.call('publish', EVENT, n, CALLERS),
      ),
      contender(WORK_FIRST, first, bench.size(1000, 200), (n) => first.call('publish', n, 100)),
      contender(WORK_FASTEST, fastest, bench.size(5000, 500), (n) =>
        fastest.call('publish', n, 100),
      ),
    ]
    const measured = await interleave(contenders, {
      warmUps: 2,
      rounds: bench.rounds,
      tell: bench.tell,
    })
    const row = (name: string) => ({ name, samples: samplesOf(measured, name, 'rate') })
    const settings = {
      payload: '500 bytes',
      callers: CALLERS,
      ...Object.fromEntries(contenders.map(({ name, count }) => [`${name}:`, count])),
    }
    return [
      {
        title: 'Publish to received, one webhook, beside bare POSTs',
        unit: 'per second',
        better: 'more',
        settings,
        rows: [row(BARE), { ...row(SVC), against: BARE, goal: { ratioAtLeast: 0.25, aim: 0.4 } }],
      },
      {
        title: 'Publish to received, one webhook, beside boss.work() and fetch',
        unit: 'per second',
        better: 'more',
        settings,
        rows: [
          row(WORK_FIRST),
          { ...row(WORK_FASTEST), against: WORK_FIRST },
          { ...row(SVC), against: WORK_FIRST, goal: { ratioAtLeast: 5 } },
        ],
      },
      {
        title: 'Who works for a delivery',
        unit: 'µs of CPU per delivery',
        better: 'less',
        settings: {},
        rows: [BARE, SVC, WORK_FASTEST].flatMap((name) =>
          ['sender', 'postgres', 'receiver'].map((figure) => ({
            name: `${name}: ${figure}`,
            samples: samplesOf(measured, name, figure),
          })),
        ),
      },
    ]
  },
}
