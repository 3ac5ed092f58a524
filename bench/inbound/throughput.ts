import { createHmac } from 'node:crypto'
import type { Bench, Benchmark, Checkout, Finding } from '../benchmark.ts'
import { besideOther } from '../beside.ts'
import type { LoadMethods, RequestPattern } from '../load/load-process.ts'
import { growthOf, interleave, rowsOf, type Contender, type RowOptions } from '../measure.ts'
import { payloadOf } from '../traffic.ts'
import type { InboundMethods, InboundName } from './inbound-process.ts'

export const PATH = '/hooks/github'
export const SECRET = 'a secret of the benchmark'

const CONNECTIONS = 64
const BY_HAND: InboundName = 'by hand'
const PLUGIN: InboundName = 'svcWebhooks'
const WITHOUT_LOG: InboundName = 'svcWebhooks without the log'
const PRESET: InboundName = 'svcWebhooks, preset'
const WITHOUT_DEDUPLICATION: InboundName = 'svcWebhooks without deduplication'
const NAMES: InboundName[] = [BY_HAND, PLUGIN, WITHOUT_DEDUPLICATION, WITHOUT_LOG, PRESET]

export const inboundThroughput: Benchmark = {
  name: 'inbound',
  title: 'Webhooks received, verified and committed, beside a route written by hand.',
  limitSeconds: 600,
  async run(bench: Bench): Promise<Finding[]> {
    const requests = bench.size(10_000, 500)
    const warmUp = bench.size(30_000, 500)
    const load = await bench.start<LoadMethods>('load/load-process.ts')
    let sent = 0
    const contenders: Contender[] = []
    for (const { name, mark, checkout } of contendersOf(bench.checkouts)) {
      const database = await bench.database()
      contenders.push({
        name: `${name}${mark}`,
        // In a process of its own each time: two processes that do the same differ by several percent,
        // by what their compiler has made of it, for as long as they live.
        async measure() {
          const module = 'inbound/inbound-process.ts'
          const server = await bench.start<InboundMethods>(module, { checkout })
          const port = await server.call('start', name, database)
          const aim = async (count: number) => {
            await load.call('aim', port, CONNECTIONS, signedRequests(sent, count))
            sent += count
          }
          await aim(warmUp)
          await load.call('load', warmUp)
          await aim(requests)
          const counters = { cpu: server.cpu, postgres: bench.postgresCpu }
          const { result, growth } = await growthOf(counters, () => load.call('load', requests))
          await server.call('stop')
          await server.stop()
          const { p50, p99 } = result.latency
          const each = (used = Number.NaN) => used / requests
          const { cpu, postgres } = growth
          return { rate: result.perSecond, cpu: each(cpu), postgres: each(postgres), p50, p99 }
        },
      })
    }
    const measured = await interleave(contenders, bench, 0)
    const settings = { requests, connections: CONNECTIONS, body: '500 bytes' }
    const rate = { unit: 'requests per second', better: 'more', settings } as const
    const cpu = { unit: 'µs of the server process per request', better: 'less', settings } as const
    const postgres = { ...cpu, unit: 'µs of Postgres per request' } as const
    const latency = { unit: 'ms', better: 'less', settings } as const
    const names = [BY_HAND, PLUGIN, WITHOUT_DEDUPLICATION]
    const beside = (figure: string, rows: RowOptions = { names, against: BY_HAND }) =>
      rowsOf(measured, figure, rows)
    const log: RowOptions = {
      names: [WITHOUT_LOG, PLUGIN],
      against: WITHOUT_LOG,
      goals: { [PLUGIN]: { ratioAtLeast: 0.85 } },
    }
    const costOfLog: RowOptions = { names: [WITHOUT_LOG, PLUGIN], against: WITHOUT_LOG }
    const preset: RowOptions = {
      names: [PLUGIN, PRESET],
      against: PLUGIN,
      goals: { [PRESET]: { ratioAtLeast: 0.95 } },
    }
    return [
      { ...rate, title: 'Inbound: verified and committed', rows: beside('rate') },
      { ...cpu, title: 'Inbound: CPU', rows: beside('cpu') },
      { ...latency, title: 'Inbound: p50', rows: beside('p50') },
      { ...latency, title: 'Inbound: p99', rows: beside('p99') },
      { ...rate, title: 'Inbound log', rows: beside('rate', log) },
      { ...cpu, title: 'Inbound log: CPU', rows: beside('cpu', log) },
      { ...postgres, title: 'Inbound log: CPU of Postgres', rows: beside('postgres', costOfLog) },
      { ...rate, title: 'Preset', rows: beside('rate', preset) },
      { ...cpu, title: 'Preset: CPU', rows: beside('cpu', preset) },
      ...besideOther(bench, measured, PLUGIN, 'cpu', { ...cpu, title: 'Inbound: CPU' }),
      ...besideOther(bench, measured, PLUGIN, 'postgres', {
        ...postgres,
        title: 'Inbound: CPU of Postgres',
      }),
      ...besideOther(bench, measured, PLUGIN, 'rate', { ...rate, title: 'Inbound' }),
    ]
  },
}

/** All of this checkout, and the plugin as the other one has it. */
function contendersOf(
  checkouts: readonly Checkout[],
): { name: InboundName; mark: string; checkout?: Checkout }[] {
  const others = checkouts.filter(({ mark }) => mark !== '')
  return [
    ...NAMES.map((name) => ({ name, mark: '' })),
    ...others.map((checkout) => ({ name: PLUGIN, mark: checkout.mark, checkout })),
  ]
}

/** Requests as GitHub sends them, each with another delivery id and type: the preset tells repeats by type and body. */
function signedRequests(from: number, count: number): RequestPattern {
  const body = JSON.stringify(payloadOf(0))
  const signature = createHmac('sha256', SECRET).update(body).digest('hex')
  return {
    method: 'POST',
    path: PATH,
    headers: ['content-type: application/json', `x-hub-signature-256: sha256=${signature}`],
    body,
    variants: Array.from(
      { length: count },
      (_, n) => `x-github-delivery: ${from + n}\r\nx-github-event: push-${from + n}`,
    ),
  }
}
