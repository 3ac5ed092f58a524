import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { growthOf, interleave, rowsOf } from '../measure.ts'
import { startHost, startReceiver, type Receiver } from './stage.ts'

const HEALTHY = ['healthy.1', 'healthy.2', 'healthy.3', 'healthy.4']
/** Events a second: a fifth of them go to dead receivers, where there are any. */
const RATE = 100
const TIMEOUT_MS = 5000
const MANY = 1000
/** The first attempts of the dead receivers end in this time: what follows is the usual state. */
const SETTLED_MS = 8000

const ALONE = 'healthy ones alone'
const ONE_DEAD = 'one dead'
const MANY_DEAD = 'a thousand dead'

export const deliveryDead: Benchmark = {
  name: 'delivery-dead',
  title: 'What receivers that never answer add to the CPU of the deliveries to the others.',
  limitSeconds: 1800,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const seconds = bench.size(30, 2)
    const contender = (name: string, dead: number) => ({
      name,
      measure: () => turn(bench, receiver, dead, seconds),
    })
    const measured = await interleave(
      [contender(ALONE, 0), contender(ONE_DEAD, 1), contender(MANY_DEAD, bench.size(MANY, 10))],
      bench,
      0,
    )
    const settings = {
      seconds,
      'healthy deliveries per second': (RATE * 4) / 5,
      payload: '500 bytes',
    }
    const goal = { ratioAtLeast: 1 / 1.3 }
    const figures = ['CPU', 'CPU of the process', 'CPU of Postgres', 'p99']
    return figures.map((figure): Finding => ({
      title: `With receivers that never answer, ${figure}`,
      unit: figure === 'p99' ? 'ms from publish to received' : 'ms of CPU per healthy delivery',
      better: 'less',
      settings,
      rows: rowsOf(measured, figure, {
        against: ALONE,
        goals: figure === 'CPU' ? { [ONE_DEAD]: goal, [MANY_DEAD]: goal } : {},
      }),
    }))
  },
}

/** With a host and a database of its own: retries must not reach the next turn. */
async function turn(bench: Bench, receiver: Receiver, dead: number, seconds: number) {
  const silent = Array.from({ length: dead }, (_, index) => `dead.${index}`)
  const events = [...HEALTHY, ...silent]
  const host = await startHost(bench, { events, deliveryTimeoutMs: TIMEOUT_MS })
  await host.call(
    'register',
    events.map((event) => ({
      url: receiver.at(silent.includes(event) ? `/silent/${event}` : `/${event}`),
      events: [event],
    })),
  )
  const rate = (RATE * 4) / 5
  const publish = async (seconds: number) => {
    await receiver.call('reset')
    await Promise.all([
      host.call('publishAtRate', HEALTHY, rate, seconds),
      dead === 0 ? undefined : host.call('publishAtRate', silent, RATE - rate, seconds),
      receiver.call('reached', rate * seconds, seconds + 60),
    ])
  }
  await publish(bench.size(SETTLED_MS / 1000, 1))
  const counters = { host: host.cpu, postgres: bench.postgresCpu }
  const { growth } = await growthOf(counters, async () => {
    await publish(seconds)
    await pause(1000)
  })
  const { p99 } = await receiver.call('latency')
  await host.stop()
  const { host: ofHost = Number.NaN, postgres = Number.NaN } = growth
  const perDelivery = 1000 * rate * seconds
  return {
    CPU: (ofHost + postgres) / perDelivery,
    'CPU of the process': ofHost / perDelivery,
    'CPU of Postgres': postgres / perDelivery,
    p99,
  }
}
