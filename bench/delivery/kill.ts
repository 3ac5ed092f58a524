import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { interleave, rowsOf, type Figures } from '../measure.ts'
import { now } from '../traffic.ts'
import { startHost, startReceiver, type Receiver } from './stage.ts'

const EVENT = 'order.created'
const SLOW = '/held'
const OF_TWO = 'one of two processes'
const THE_ONLY = 'the only process, since its restart'
const WEBHOOKS = 10
const GOAL_MS = 5000
const FIGURE = 'again'

export const deliveryKill: Benchmark = {
  name: 'delivery-kill',
  title: 'After a kill -9 amid attempts: when the last of them is made again.',
  limitSeconds: 900,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const events = bench.size(10, 1)
    const contenders = [
      { name: OF_TWO, measure: () => turn(bench, receiver, events, true) },
      { name: THE_ONLY, measure: () => turn(bench, receiver, events, false) },
    ]
    // While a server has just started, processes without their lock count as reconnecting.
    await bench.database()
    await pause(6000)
    const measured = await interleave(contenders, bench, 0)
    const goal = { atMost: GOAL_MS }
    return [
      {
        title: 'From the kill, or the boot after it, to the last attempt that is made again',
        unit: 'ms',
        better: 'less',
        settings: { 'attempts when it is killed': events * WEBHOOKS, webhooks: WEBHOOKS },
        rows: rowsOf(measured, FIGURE, { goals: { [OF_TWO]: goal, [THE_ONLY]: goal } }),
      },
    ]
  },
}

/** The receiver holds the requests of the process that is killed, and answers those that follow. */
async function turn(
  bench: Bench,
  receiver: Receiver,
  events: number,
  hasOther: boolean,
): Promise<Figures> {
  const options = { events: [EVENT], database: await bench.database() }
  const killed = await startHost(bench, options)
  const urls = Array.from({ length: WEBHOOKS }, (_, index) => receiver.at(`${SLOW}/${index}`))
  await killed.call(
    'register',
    urls.map((url) => ({ url, events: [EVENT] })),
  )
  const jobs = events * WEBHOOKS
  // A process makes few attempts at once for a webhook that has not answered yet.
  await receiver.call('reset')
  await killed.call('publish', [EVENT], 1, 1)
  await receiver.call('reached', WEBHOOKS, 60)
  await receiver.call('hold', true)
  await killed.call('publish', [EVENT], events, events)
  while ((await receiver.call('held')) < jobs) await pause(10)
  const other = hasOther ? await startHost(bench, options) : undefined
  await receiver.call('reset')
  await receiver.call('hold', false)
  await killed.kill()
  const since = now()
  const host = other ?? (await startHost(bench, options))
  const { lastAt } = await receiver.call('reached', jobs, 120)
  await host.stop()
  return { [FIGURE]: lastAt - since }
}
