import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { growthOf, interleave, rowsOf, type Figures } from '../measure.ts'
import { startHost, startReceiver, type Receiver } from './stage.ts'

const EVENT = 'order.created'
const PROCESSES = [1, 2, 4]
/** Callers, and events in a second, of all processes together. */
const CALLERS = 1000
const RATE = 200

interface Amount {
  /** Events of all processes together, published as fast as possible. */
  events: number
  /** At the steady rate. */
  seconds: number
}

const nameOf = (processes: number): string =>
  processes === 1 ? '1 process' : `${processes} processes`

export const deliveryProcesses: Benchmark = {
  name: 'delivery-processes',
  title:
    'One, two and four processes on one Postgres, which all publish and deliver to one webhook.',
  limitSeconds: 1800,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const amount = { events: bench.size(24_000, 1200), seconds: bench.size(15, 1) }
    const contenders = []
    for (const processes of PROCESSES) {
      const database = await bench.database()
      contenders.push({
        name: nameOf(processes),
        measure: () => turn(bench, receiver, database, processes, amount),
      })
    }
    const measured = await interleave(contenders, bench, bench.quick ? 0 : 1)
    const rows = (figure: string) => rowsOf(measured, figure, { against: nameOf(1) })
    const settings = { payload: '500 bytes', webhooks: 1 }
    const burst = { ...settings, events: amount.events, callers: CALLERS }
    return [
      {
        title: 'Published as fast as possible, and received',
        unit: 'deliveries per second',
        better: 'more',
        settings: burst,
        rows: rows('rate'),
      },
      ...['hosts', 'Postgres'].map((who): Finding => ({
        title: `CPU of a delivery, ${who}`,
        unit: 'µs of CPU per delivery',
        better: 'less',
        settings: burst,
        rows: rows(who),
      })),
      ...['p50', 'p99'].map((figure): Finding => ({
        title: `From publish to received at ${RATE} a second, ${figure}`,
        unit: 'ms',
        better: 'less',
        settings: { ...settings, seconds: amount.seconds },
        rows: rows(figure),
      })),
      {
        title: 'Connections to Postgres',
        unit: 'connections, after the burst',
        better: 'less',
        settings: burst,
        rows: rows('connections'),
      },
    ]
  },
}

/** With hosts of its own: the polls of others would be counted with them. */
async function turn(
  bench: Bench,
  receiver: Receiver,
  database: string,
  processes: number,
  { events, seconds }: Amount,
): Promise<Figures> {
  const options = { events: [EVENT], database }
  const hosts = await Promise.all(
    Array.from({ length: processes }, () => startHost(bench, options)),
  )
  await hosts[0]?.call('registerOnce', { url: receiver.at('/processes'), events: [EVENT] })
  const share = (count: number): number => Math.ceil(count / processes)
  const burst = async (count: number) => {
    await receiver.call('reset')
    const [{ lastAt }, ...published] = await Promise.all([
      receiver.call('reached', share(count) * processes, 120),
      ...hosts.map((host) => host.call('publish', [EVENT], share(count), share(CALLERS))),
    ])
    return lastAt - Math.min(...published.map(({ startedAt }) => startedAt))
  }
  await burst(events / 4)

  const cpu = async () => {
    const used = await Promise.all(hosts.map((host) => host.cpu()))
    return used.reduce((sum, one) => sum + one, 0)
  }
  const counters = { hosts: cpu, Postgres: bench.postgresCpu }
  const { result: tookMs, growth } = await growthOf(counters, () => burst(events))
  const sent = share(events) * processes
  const connections = (await hosts[0]?.call('connections')) ?? Number.NaN

  await receiver.call('reset')
  const rate = RATE / processes
  await Promise.all([
    receiver.call('reached', rate * seconds * processes, seconds + 60),
    ...hosts.map((host) => host.call('publishAtRate', [EVENT], rate, seconds)),
  ])
  const { p50, p99 } = await receiver.call('latency')
  for (const host of hosts) await host.stop()
  const { hosts: ofHosts = Number.NaN, Postgres = Number.NaN } = growth
  return {
    rate: sent / (tookMs / 1000),
    hosts: ofHosts / sent,
    Postgres: Postgres / sent,
    p50,
    p99,
    connections,
  }
}
