import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { growthOf, interleave, rowsOf } from '../measure.ts'
import { startBossWork, startByHand, startHost, startReceiver } from './stage.ts'

const EVENT = 'order.created'
const CALLERS = 1000
const BARE = 'bare POSTs with undici'
const SVC = 'svc: publish to received'
const WORK_FIRST = 'a first boss.work() handler'
const WORK_FASTEST = 'boss.work() with its fastest settings'

interface Sender {
  name: string
  process: { cpu: () => Promise<number> }
  count: number
  send: (count: number) => Promise<{ startedAt: number }>
}

export const deliveryThroughput: Benchmark = {
  name: 'delivery-throughput',
  title: 'Events published, delivered and received in one process, one webhook.',
  limitSeconds: 600,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const bare = await startByHand(bench)
    await bare.call('openPool', receiver.at(''))
    const host = await startHost(bench, { events: [EVENT] })
    await host.call('register', [{ url: receiver.at('/svc'), events: [EVENT] }])
    const first = await startBossWork(bench, receiver.at('/first'), { fastest: false })
    const fastest = await startBossWork(bench, receiver.at('/fastest'), { fastest: true })
    const senders: Sender[] = [
      {
        name: BARE,
        process: bare,
        count: bench.size(60_000, 4000),
        send: (count) => bare.call('post', '/bare', count),
      },
      {
        name: SVC,
        process: host,
        count: bench.size(30_000, 2000),
        send: (count) => host.call('publish', [EVENT], count, CALLERS),
      },
      {
        name: WORK_FIRST,
        process: first,
        count: bench.size(1000, 200),
        send: (count) => first.call('send', count, 100),
      },
      {
        name: WORK_FASTEST,
        process: fastest,
        count: bench.size(5000, 500),
        send: (count) => fastest.call('send', count, 100),
      },
    ]

    const contenders = senders.map(({ name, process, count, send }) => ({
      name,
      async measure() {
        await receiver.call('reset')
        const counters = {
          sender: process.cpu,
          Postgres: bench.postgresCpu,
          receiver: receiver.cpu,
        }
        const { result, growth } = await growthOf(counters, () =>
          Promise.all([send(count), receiver.call('reached', count, 60)]),
        )
        const [{ startedAt }, { lastAt }] = result
        const { sender = 0, Postgres = 0, receiver: received = 0 } = growth
        return {
          rate: count / ((lastAt - startedAt) / 1000),
          sender: sender / count,
          Postgres: Postgres / count,
          receiver: received / count,
        }
      },
    }))
    const measured = await interleave(contenders, bench, 2)
    const settings = {
      payload: '500 bytes',
      callers: CALLERS,
      ...Object.fromEntries(senders.map(({ name, count }) => [`${name}:`, count])),
    }
    return [
      {
        title: 'Publish to received, one webhook, beside bare POSTs',
        unit: 'per second',
        better: 'more',
        settings,
        rows: rowsOf(measured, 'rate', {
          names: [BARE, SVC],
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
          names: [WORK_FIRST, WORK_FASTEST, SVC],
          against: WORK_FIRST,
          goals: { [SVC]: { ratioAtLeast: 5 } },
        }),
      },
      {
        title: 'CPU of a delivery, by process',
        unit: 'µs of CPU per delivery',
        better: 'less',
        settings: {},
        rows: [BARE, SVC, WORK_FASTEST].flatMap((name) =>
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
