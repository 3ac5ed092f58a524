import { createHmac } from 'node:crypto'
import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import type { LoadMethods, RequestPattern } from '../load/load-process.ts'
import { growthOf, interleave, rowsOf, type Contender } from '../measure.ts'
import { payloadOf } from '../traffic.ts'
import type { InboundMethods, InboundName } from './inbound-process.ts'

export const PATH = '/hooks/github'
export const SECRET = 'a secret of the benchmark'

const CONNECTIONS = 64
const BY_HAND: InboundName = 'by hand'
const NAMES: InboundName[] = [BY_HAND, 'svcWebhooks', 'svcWebhooks without deduplication']

export const inboundThroughput: Benchmark = {
  name: 'inbound',
  title: 'Webhooks received, verified and committed, beside a route written by hand.',
  limitSeconds: 400,
  async run(bench: Bench): Promise<Finding[]> {
    const requests = bench.size(10_000, 500)
    const load = await bench.start<LoadMethods>('load/load-process.ts')
    let sent = 0
    const contenders: Contender[] = []
    for (const name of NAMES) {
      const server = await bench.start<InboundMethods>('inbound/inbound-process.ts')
      const port = await server.call('start', name, await bench.database())
      contenders.push({
        name,
        async measure() {
          await load.call('aim', port, CONNECTIONS, signedRequests(sent, requests))
          sent += requests
          const { result, growth } = await growthOf({ cpu: server.cpu }, () =>
            load.call('load', requests),
          )
          const { p50, p99 } = result.latency
          return { rate: result.perSecond, cpu: (growth.cpu ?? Number.NaN) / requests, p50, p99 }
        },
      })
    }
    const measured = await interleave(contenders, bench, 2)
    const finding = (
      figure: string,
      title: string,
      unit: string,
      better: Finding['better'] = 'less',
    ): Finding => ({
      title,
      unit,
      better,
      settings: { requests, connections: CONNECTIONS, body: '500 bytes' },
      rows: rowsOf(measured, figure, { against: BY_HAND }),
    })
    return [
      finding('rate', 'Inbound: verified and committed', 'requests per second', 'more'),
      finding('cpu', 'Inbound: CPU', 'µs of the server process per request'),
      finding('p50', 'Inbound: p50', 'ms'),
      finding('p99', 'Inbound: p99', 'ms'),
    ]
  },
}

/** Requests as GitHub sends them, each with another delivery id. */
function signedRequests(from: number, count: number): RequestPattern {
  const body = JSON.stringify(payloadOf(0))
  const signature = createHmac('sha256', SECRET).update(body).digest('hex')
  return {
    method: 'POST',
    path: PATH,
    headers: ['content-type: application/json', `x-hub-signature-256: sha256=${signature}`],
    body,
    variants: Array.from({ length: count }, (_, n) => `x-github-delivery: ${from + n}`),
  }
}
