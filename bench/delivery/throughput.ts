import type { Bench, Benchmark, Checkout, Finding } from '../benchmark.ts'
import { besideOther } from '../beside.ts'
import type { Process } from '../process.ts'
import { growthOf, interleave, rowsOf } from '../measure.ts'
import type { HostMethods } from './host-process.ts'
import { startBossWork, startByHand, startHost, startReceiver, type Receiver } from './stage.ts'

const EVENT = 'order.created'
const CALLERS = 1000
const BARE = 'bare POSTs with undici'
const SVC = 'svc: publish to received'
const WORK_FIRST = 'a first boss.work() handler'
const WORK_FASTEST = 'boss.work() with its fastest settings'

export const deliveryThroughput: Benchmark = {
  name: 'delivery-throughput',
  title: 'Events published, delivered and received in one process, one webhook.',
  limitSeconds: 600,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const bare = await startByHand(bench)
    await bare.call('openPool', receiver.at(''))
    const hosts: { name: string; host: Process<HostMethods> }[] = []
    for (const checkout of bench.checkouts) {
      const host = await startHostOf(bench, checkout, receiver)
      hosts.push({ name: `${SVC}${checkout.mark}`, host })
    }
    const ours = hosts.map(({ name }) => name)
    const first = await startBossWork(bench, receiver.at('/first'), { fastest: false })
    const fastest = await startBossWork(bench, receiver.at('/fastest'), { fastest: true })
    const contender = (
      name: string,
      process: { cpu: () => Promise<number> },
      count: number,
      send: () => Promise<{ startedAt: number }>,
    ) => ({
      name,
      async measure() {
        await receiver.call('reset')
        const counters = {
          sender: () => process.cpu(),
          Postgres: bench.postgresCpu,
          receiver: receiver.cpu,
        }
        const { result, growth } = await growthOf(counters, () =>
          Promise.all([send(), receiver.call('reached', count, 60)]),
        )
        const [{ startedAt }, { lastAt }] = result
        for (const [who, used] of Object.entries(growth)) growth[who] = used / count
        const CPU = (growth.sender ?? Number.NaN) + (growth.Postgres ?? Number.NaN)
        return { ...growth, CPU, rate: count / ((lastAt - startedAt) / 1000) }
      },
    })
    const [posts, events] = [bench.size(60_000, 4000), bench.size(30_000, 2000)]
    const [few, more] = [bench.size(1000, 200), bench.size(5000, 500)]
    const contenders = [
      contender(BARE, bare, posts, () => bare.call('post', '/bare', posts)),
      ...hosts.map(({ name, host }) =>
        contender(name, host, events, () => host.call('publish', [EVENT], events, CALLERS)),
      ),
      contender(WORK_FIRST, first, few, () => first.call('send', few, 100)),
      contender(WORK_FASTEST, fastest, more, () => fastest.call('send', more, 100)),
    ]
    const measured = await interleave(contenders, bench, 2)
    const settings = {
      payload: '500 bytes',
      callers: CALLERS,
      [`${BARE}:`]: posts,
      [`${SVC}:`]: events,
      [`${WORK_FIRST}:`]: few,
      [`${WORK_FASTEST}:`]: more,
    }
    return [
      {
        title: 'Publish to received, one webhook, beside bare POSTs',
        unit: 'per second',
        better: 'more',
        settings,
        rows: rowsOf(measured, 'rate', {
          names: [BARE, ...ours],
          against: BARE,
          goals: { [SVC]: { ratioAtLeast: 0.25, aim: 0.4 } },
        }),
      },
      {
        title: 'Publish to received, one webhook, beside boss.work() and fetch',
        unit: 'per second',
        better: 'more',
        settings,
        rows: rowsOf(measured, 'rate', {
          names: [WORK_FIRST, WORK_FASTEST, ...ours],
          against: WORK_FIRST,
          goals: { [SVC]: { ratioAtLeast: 5 } },
        }),
      },
      ...besideOther(bench, measured, SVC, 'rate', {
        title: 'Publish to received, one webhook',
        unit: 'per second',
        better: 'more',
        settings,
      }),
      ...besideOther(bench, measured, SVC, 'CPU', {
        title: 'CPU of a delivery, the process and Postgres',
        unit: 'µs of CPU per delivery',
        better: 'less',
        settings,
      }),
      {
        title: 'CPU of a delivery, by process',
        unit: 'µs of CPU per delivery',
        better: 'less',
        settings: {},
        rows: [BARE, ...ours, WORK_FASTEST].flatMap((name) =>
          ['sender', 'Postgres', 'receiver'].flatMap((process) =>
            rowsOf(measured, process, { names: [name] }).map((row) => ({
              ...row,
              name: `${name}: ${process}`,
            })),
          ),
        ),
      },
    ]
  },
}

async function startHostOf(
  bench: Bench,
  checkout: Checkout,
  receiver: Receiver,
): Promise<Process<HostMethods>> {
  const host = await startHost(bench, { events: [EVENT] }, checkout)
  await host.call('register', [{ url: receiver.at('/svc'), events: [EVENT] }])
  return host
}
