import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Benchmark, Checkout, Finding, Row } from '../benchmark.ts'
import { growthOf, interleave, samplesOf, type Figures } from '../measure.ts'
import { startHost, startReceiver, type Receiver } from './stage.ts'

const EVENT = 'order.created'
const RATES = [50, 200, 500]
const CALLERS = 100
/** The last deliveries are settled in this time after they arrive. */
const SETTLE_MS = 1000
/** After five seconds without a job a host polls less often. */
const UNTIL_QUIET_MS = 8000

interface Amount {
  warmUp: number
  /** At each rate. */
  seconds: number
  quietSeconds: number
}

const FIGURES = [
  ['CPU', 'ms of CPU per delivery, host and Postgres'],
  ['CPU of the host', 'ms of CPU per delivery'],
  ['CPU of Postgres', 'ms of CPU per delivery'],
  ['statements', 'statements per delivery'],
  ['p50', 'ms from publish to received'],
  ['p99', 'ms from publish to received'],
] as const

const QUIET_FIGURES = [
  ['CPU', '% of a core, host and Postgres'],
  ['CPU of the host', '% of a core'],
  ['CPU of Postgres', '% of a core'],
  ['statements', 'statements per second'],
] as const

export const deliveryOrdinary: Benchmark = {
  name: 'delivery-ordinary',
  title: 'Cost and latency of 50, 200 and 500 deliveries a second to one endpoint, and of none.',
  limitSeconds: 3600,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const amount: Amount = {
      warmUp: bench.size(5000, 200),
      seconds: bench.size(15, 1),
      quietSeconds: bench.size(20, 1),
    }
    const contenders = []
    for (const checkout of bench.checkouts) {
      const database = await preparedDatabase(bench, receiver, checkout)
      contenders.push({
        name: checkout.mark,
        measure: () => turn(bench, receiver, checkout, database, amount),
      })
    }
    const measured = await interleave(contenders, bench, 0)

    const marks = bench.checkouts.map(({ mark }) => mark)
    const other = marks.find((mark) => mark !== '')
    const rowsAt = (when: string, figure: string): Row[] =>
      marks.map((mark) => ({
        name: `${when}${mark}`,
        samples: samplesOf(measured, mark, `${when}: ${figure}`),
        ...(other !== undefined && mark === '' ? { against: `${when}${other}` } : {}),
      }))
    const { seconds, quietSeconds } = amount
    return [
      ...FIGURES.map(([figure, unit]): Finding => ({
        title: `Ordinary rates, ${figure}`,
        unit,
        better: 'less',
        settings: { seconds, payload: '500 bytes', webhooks: 1 },
        rows: RATES.flatMap((rate) => rowsAt(atRate(rate), figure)),
      })),
      ...QUIET_FIGURES.map(([figure, unit]): Finding => ({
        title: `Without a delivery, ${figure}`,
        unit,
        better: 'less',
        settings: { seconds: quietSeconds },
        rows: rowsAt(QUIET, figure),
      })),
    ]
  },
}

const QUIET = 'quiet'
const atRate = (rate: number): string => `${rate}/s`

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

/**
 * One host runs at a time, because Postgres's CPU time cannot be told apart by host: a second one
 * would add the cost of its polls. It is new in each turn and warmed up before it is measured.
 */
async function turn(
  bench: Bench,
  receiver: Receiver,
  checkout: Checkout,
  database: string,
  { warmUp, seconds, quietSeconds }: Amount,
): Promise<Figures> {
  const host = await startHost(bench, { events: [EVENT], database }, checkout)
  const counters = {
    host: host.cpu,
    postgres: bench.postgresCpu,
    statements: () => host.call('statements'),
  }
  await receiver.call('reset')
  await host.call('publish', [EVENT], warmUp, CALLERS)
  await receiver.call('reached', warmUp, 60)

  const figures: Figures = {}
  for (const rate of RATES) {
    bench.tell(`${atRate(rate)}${checkout.mark}`)
    await pause(SETTLE_MS)
    await receiver.call('reset')
    const count = rate * seconds
    const { growth } = await growthOf(counters, async () => {
      await Promise.all([
        host.call('publishAtRate', [EVENT], rate, seconds),
        receiver.call('reached', count, seconds + 60),
      ])
      await pause(SETTLE_MS)
    })
    const { p50, p99 } = await receiver.call('latency')
    add(figures, atRate(rate), { ...costs(growth, 1000 * count, count), p50, p99 })
  }
  bench.tell(`${QUIET}${checkout.mark}`)
  await pause(bench.size(UNTIL_QUIET_MS, 0))
  const { growth } = await growthOf(counters, () => pause(quietSeconds * 1000))
  add(figures, QUIET, costs(growth, (quietSeconds * 1e6) / 100, quietSeconds))
  await host.stop()
  return figures
}

function costs(growth: Figures, perMicroseconds: number, perStatements: number): Figures {
  const { host = Number.NaN, postgres = Number.NaN, statements = Number.NaN } = growth
  return {
    CPU: (host + postgres) / perMicroseconds,
    'CPU of the host': host / perMicroseconds,
    'CPU of Postgres': postgres / perMicroseconds,
    statements: statements / perStatements,
  }
}

function add(figures: Figures, when: string, more: Figures): void {
  for (const [figure, value] of Object.entries(more)) figures[`${when}: ${figure}`] = value
}
