import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import type { LoadMethods } from '../load/load-process.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { startProcess } from '../processes/process.ts'
import type { InboundMethods, InboundName } from './inbound-process.ts'
import { signedRequests } from './signed-request.ts'

const CONNECTIONS = 64
const BY_HAND: InboundName = 'by hand'
const names: InboundName[] = [BY_HAND, 'svcWebhooks', 'svcWebhooks without deduplication']

export const inboundThroughput: Benchmark = {
  name: 'inbound',
  title: 'Webhooks taken in, verified and committed, beside a route written by hand.',
  limitSeconds: 400,
  async run(bench: Bench): Promise<Finding[]> {
    const requests = bench.size(10_000, 500)
    const load = bench.owns(
      await startProcess<LoadMethods>(new URL('../load/load-process.ts', import.meta.url)),
    )
    let sent = 0
    const contenders = []
    for (const name of names) {
      const database = await bench.database()
      const server = bench.owns(
        await startProcess<InboundMethods>(new URL('inbound-process.ts', import.meta.url)),
      )
      const port = await server.call('start', name, database)
      contenders.push({
        name,
        async measure() {
          await load.call('aim', port, CONNECTIONS, signedRequests(sent, requests))
          sent += requests
          const before = await server.call('usage')
          const { statuses, perSecond, latency } = await load.call('closedLoop', requests)
          const after = await server.call('usage')
          if (statuses[200] !== requests) throw new Error(`${name}: ${JSON.stringify(statuses)}`)
          return {
            rate: perSecond,
            cpu: (after.cpuMicroseconds - before.cpuMicroseconds) / requests,
            p50: latency.p50,
            p99: latency.p99,
          }
        },
      })
    }
    const measured = await interleave(contenders, {
      warmUps: 2,
      rounds: bench.rounds,
      tell: bench.tell,
    })
    const settings = { requests, connections: CONNECTIONS, body: '500 bytes' }
    const table = (figure: string, title: string, unit: string, better: Finding['better']) => ({
      title,
      unit,
      better,
      settings,
      rows: names.map((name) => ({
        name,
        samples: samplesOf(measured, name, figure),
        ...(name === BY_HAND ? {} : { against: BY_HAND }),
      })),
    })
    return [
      table('rate', 'Inbound: verified and committed', 'requests per second', 'more'),
      table('cpu', 'Inbound: CPU', 'µs of the server process per request', 'less'),
      table('p50', 'Inbound: p50', 'ms', 'less'),
      table('p99', 'Inbound: p99', 'ms', 'less'),
    ]
  },
}
