import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Benchmark, Checkout, Finding } from '../benchmark.ts'
import { growthOf, interleave, rowsOf, type Contender, type Figures } from '../measure.ts'
import { query } from '../postgres/server.ts'
import type { Methods, Process } from '../process.ts'
import type { LeastMethods } from './least-process.ts'
import { startHost, startReceiver, type Receiver } from './stage.ts'

const EVENT = 'order.created'
const RATES = [50, 200, 500]
const CALLERS = 100
/**
 * Node compiles what runs often, and goes on compiling for some ten thousand deliveries. A host has run
 * for longer.
 */
const WARM_UP_RATE = 500
/** The last deliveries are settled in this time after they arrive. */
const SETTLE_MS = 1000
/** After five seconds without a job a host polls less often. */
const UNTIL_QUIET_MS = 8000

interface Amount {
  /** Deliveries, as fast as possible. */
  warmUp: number
  /** Then at {@link WARM_UP_RATE}. */
  warmUpSeconds: number
  /** At each rate. */
  seconds: number
  quietSeconds: number
}

const FIGURES = [
  ['CPU', 'ms of CPU per delivery, process and Postgres'],
  ['CPU of the process', 'ms of CPU per delivery'],
  ['CPU of Postgres', 'ms of CPU per delivery'],
  ['statements', 'statements per delivery'],
  ['p50', 'ms from publish to received'],
  ['p99', 'ms from publish to received'],
] as const

const QUIET_FIGURES = [
  ['CPU', '% of a core, host and Postgres'],
  ['CPU of the process', '% of a core'],
  ['CPU of Postgres', '% of a core'],
  ['statements', 'statements per second'],
] as const

export const steadyDelivery: Benchmark = {
  name: 'steady-delivery',
  title:
    'Cost and latency of 50, 200 and 500 deliveries a second to one receiver, beside the least one can write by hand, and of none.',
  limitSeconds: 3600,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const amount: Amount = {
      warmUp: bench.size(5000, 200),
      warmUpSeconds: bench.size(60, 1),
      seconds: bench.size(15, 1),
      quietSeconds: bench.size(20, 1),
    }
    const contenders = [await byHand(bench, receiver, amount)]
    for (const checkout of bench.checkouts) {
      const database = await preparedDatabase(bench, receiver, checkout)
      contenders.push({
        name: `${SVC}${checkout.mark}`,
        measure: () => hostTurn(bench, receiver, checkout, database, amount),
      })
    }
    const measured = await interleave(contenders, bench, 0)

    const hosts = contenders.map(({ name }) => name).filter((name) => name !== BY_HAND)
    const { seconds, quietSeconds } = amount
    return [
      ...FIGURES.flatMap(([figure, unit]) =>
        RATES.map((rate): Finding => ({
          title: `${rate} deliveries a second, ${figure}`,
          unit,
          better: 'less',
          settings: { seconds, payload: '500 bytes', webhooks: 1 },
          rows: rowsOf(measured, nameOf(atRate(rate), figure), {
            against: BY_HAND,
            goals: figure === 'CPU' && rate < 500 ? { [SVC]: { ratioAtLeast: 1 / 1.4 } } : {},
          }),
        })),
      ),
      ...QUIET_FIGURES.map(([figure, unit]): Finding => ({
        title: `Without a delivery, ${figure}`,
        unit,
        better: 'less',
        settings: { seconds: quietSeconds },
        rows: rowsOf(measured, nameOf(QUIET, figure), { names: hosts }),
      })),
    ]
  },
}

const SVC = '@svc/webhooks'
const BY_HAND = 'insert, POST, update'
const QUIET = 'quiet'
const atRate = (rate: number): string => `${rate}/s`
const nameOf = (when: string, figure: string): string => `${when}: ${figure}`

async function preparedDatabase(
  bench: Bench,
  receiver: Receiver,
  checkout: Checkout,
): Promise<string> {
  const database = await bench.database()
  const host = await startHost(bench, { events: [EVENT], database }, checkout)
  await host.call('register', [{ url: receiver.at('/ordinary'), events: [EVENT] }])
  await host.stop()
  return database
}

async function byHand(bench: Bench, receiver: Receiver, amount: Amount): Promise<Contender> {
  const database = await bench.database()
  return {
    name: BY_HAND,
    measure: async () => {
      const process = await bench.start<LeastMethods>('delivery/least-process.ts')
      await process.call('start', database, receiver.at('/by-hand'))
      const figures = await atEachRate(bench, receiver, amount, {
        database,
        process,
        mark: ', by hand',
        warmUp: (count) => process.call('publish', count, CALLERS),
        publish: (rate, seconds) => process.call('publishAtRate', rate, seconds),
        statements: () => process.call('statements'),
      })
      await process.stop()
      return figures
    },
  }
}

/**
 * One host runs at a time, because Postgres's CPU time cannot be told apart by host: a second one
 * would add the cost of its polls. It is new in each turn and warmed up before it is measured.
 */
async function hostTurn(
  bench: Bench,
  receiver: Receiver,
  checkout: Checkout,
  database: string,
  amount: Amount,
): Promise<Figures> {
  const host = await startHost(bench, { events: [EVENT], database }, checkout)
  const figures = await atEachRate(bench, receiver, amount, {
    database,
    process: host,
    mark: checkout.mark,
    warmUp: (count) => host.call('publish', [EVENT], count, CALLERS),
    publish: (rate, seconds) => host.call('publishAtRate', [EVENT], rate, seconds),
    statements: () => host.call('statements'),
  })
  bench.tell(`${QUIET}${checkout.mark}`)
  await pause(bench.size(UNTIL_QUIET_MS, 0))
  const { growth } = await growthOf(
    countersOf(bench, host, () => host.call('statements')),
    () => pause(amount.quietSeconds * 1000),
  )
  add(figures, QUIET, costs(growth, (amount.quietSeconds * 1e6) / 100, amount.quietSeconds))
  await host.stop()
  return figures
}

interface Sender {
  database: string
  process: Pick<Process<Methods>, 'cpu'>
  mark: string
  warmUp(count: number): Promise<unknown>
  publish(rate: number, seconds: number): Promise<unknown>
  statements(): Promise<number>
}

const countersOf = (
  bench: Bench,
  process: Sender['process'],
  statements: () => Promise<number>,
) => ({
  host: process.cpu,
  postgres: bench.postgresCpu,
  statements,
})

async function atEachRate(
  bench: Bench,
  receiver: Receiver,
  { warmUp, warmUpSeconds, seconds }: Amount,
  sender: Sender,
): Promise<Figures> {
  const counters = countersOf(bench, sender.process, () => sender.statements())
  await receiver.call('reset')
  await sender.warmUp(warmUp)
  await receiver.call('reached', warmUp, 60)
  bench.tell(`${atRate(WARM_UP_RATE)} to warm up${sender.mark}`)
  await sender.publish(WARM_UP_RATE, warmUpSeconds)
  // Autovacuum would remove what the warm-up has left while the deliveries are measured.
  await query(sender.database, 'vacuum analyze')
  const figures: Figures = {}
  for (const rate of RATES) {
    bench.tell(`${atRate(rate)}${sender.mark}`)
    // Node collects what the rate before has left once less is allocated.
    const count = rate * seconds
    await receiver.call('reset')
    await sender.publish(rate, seconds)
    await receiver.call('reached', count, 60)
    await pause(SETTLE_MS)
    await receiver.call('reset')
    const { growth } = await growthOf(counters, async () => {
      await Promise.all([
        sender.publish(rate, seconds),
        receiver.call('reached', count, seconds + 60),
      ])
      await pause(SETTLE_MS)
    })
    const { p50, p99 } = await receiver.call('latency')
    add(figures, atRate(rate), { ...costs(growth, 1000 * count, count), p50, p99 })
  }
  return figures
}

function costs(growth: Figures, perMicroseconds: number, perStatements: number): Figures {
  const { host = Number.NaN, postgres = Number.NaN, statements = Number.NaN } = growth
  return {
    CPU: (host + postgres) / perMicroseconds,
    'CPU of the process': host / perMicroseconds,
    'CPU of Postgres': postgres / perMicroseconds,
    statements: statements / perStatements,
  }
}

function add(figures: Figures, when: string, more: Figures): void {
  for (const [figure, value] of Object.entries(more)) figures[nameOf(when, figure)] = value
}
