import type { Bench, Benchmark, Finding, Row } from '../benchmark.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import type { Goal } from '../report/goal.ts'
import { startHost, startReceiver } from './stage.ts'
import { FASTEST, startBossWork } from './work-settings.ts'

const EVENT = 'order.created'
const RATES = [50, 500, 2000]
const SVC = 'svc'
const WORK = 'boss.work(), fastest settings'
const AIMS: Record<string, Goal> = { p50: { atMost: 5 }, p99: { atMost: 50 } }
const AIMED_AT_RATE = 500

export const deliveryLatency: Benchmark = {
  name: 'delivery-latency',
  title: 'From the call of publish to the arrival at the receiver, at a steady pace.',
  limitSeconds: 900,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const host = await startHost(bench, { events: [EVENT] })
    await host.call('register', [{ url: receiver.at('/svc'), events: [EVENT] }])
    const work = await startBossWork(bench, receiver.at('/work'), FASTEST)
    const seconds = bench.size(6, 1)

    const contender = (name: string, rate: number, publish: () => Promise<unknown>) => ({
      name: `${name}, ${rate}/s`,
      async measure() {
        await receiver.call('reset')
        await Promise.all([publish(), receiver.call('reached', rate * seconds, seconds + 60)])
        const { p50, p99, p999, worst } = await receiver.call('latency')
        return { p50, p99, p999, worst }
      },
    })
    const contenders = RATES.flatMap((rate) => [
      contender(SVC, rate, () => host.call('publishAtRate', [EVENT], rate, seconds)),
      contender(WORK, rate, () => work.call('publishAtRate', rate, seconds)),
    ])
    const measured = await interleave(contenders, {
      warmUps: 1,
      rounds: bench.rounds,
      tell: bench.tell,
    })
    return ['p50', 'p99', 'p999'].map((figure): Finding => ({
      title: `Publish to received, ${figure === 'p999' ? 'p99.9' : figure}`,
      unit: 'ms',
      better: 'less',
      settings: { seconds, payload: '500 bytes', webhooks: 1 },
      rows: RATES.flatMap((rate): Row[] => {
        const [own, other] = [`${SVC}, ${rate}/s`, `${WORK}, ${rate}/s`]
        const aim = rate === AIMED_AT_RATE ? AIMS[figure] : undefined
        return [
          {
            name: own,
            samples: samplesOf(measured, own, figure),
            against: other,
            ...(aim ? { goal: aim } : {}),
          },
          { name: other, samples: samplesOf(measured, other, figure) },
        ]
      }),
    }))
  },
}
