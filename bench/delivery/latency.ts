import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { interleave, rowsOf } from '../measure.ts'
import type { Goal } from '../report.ts'
import { startBossWork, startHost, startReceiver } from './stage.ts'

const EVENT = 'order.created'
const RATES = [50, 500, 2000]
const RATE_OF_GOALS = 500
const GOALS: Record<string, Goal> = { p50: { atMost: 5 }, p99: { atMost: 50 } }

const svc = (rate: number) => `svc, ${rate}/s`
const work = (rate: number) => `boss.work(), fastest settings, ${rate}/s`

export const deliveryLatency: Benchmark = {
  name: 'delivery-latency',
  title: 'From the call of publish to the arrival at the receiver, at a steady rate.',
  limitSeconds: 900,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const host = await startHost(bench, { events: [EVENT] })
    await host.call('register', [{ url: receiver.at('/svc'), events: [EVENT] }])
    const boss = await startBossWork(bench, receiver.at('/work'), { fastest: true })
    const seconds = bench.size(6, 1)

    const contender = (name: string, rate: number, publish: () => Promise<unknown>) => ({
      name,
      async measure() {
        await receiver.call('reset')
        await Promise.all([publish(), receiver.call('reached', rate * seconds, seconds + 60)])
        const { p50, p99, p999 } = await receiver.call('latency')
        return { p50, p99, 'p99.9': p999 }
      },
    })
    const contenders = RATES.flatMap((rate) => [
      contender(svc(rate), rate, () => host.call('publishAtRate', [EVENT], rate, seconds)),
      contender(work(rate), rate, () => boss.call('sendAtRate', rate, seconds)),
    ])
    const measured = await interleave(contenders, bench)
    return ['p50', 'p99', 'p99.9'].map((figure): Finding => {
      const goal = GOALS[figure]
      return {
        title: `Publish to received, ${figure}`,
        unit: 'ms',
        better: 'less',
        settings: { seconds, payload: '500 bytes', webhooks: 1 },
        rows: RATES.flatMap((rate) =>
          rowsOf(measured, figure, {
            names: [svc(rate), work(rate)],
            against: work(rate),
            goals: goal && rate === RATE_OF_GOALS ? { [svc(rate)]: goal } : {},
          }),
        ),
      }
    })
  },
}
