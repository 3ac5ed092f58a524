import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import type { LoadMethods } from '../load/load-process.ts'
import { growthOf, interleave, rowsOf, type Contender } from '../measure.ts'
import type { Process } from '../process.ts'
import type { GuardedMethods, GuardName } from './guarded-process.ts'
import { keyedDatabase, keyText, keyTexts, withKeys } from './keys.ts'

const GUARDS: GuardName[] = ['no guard', 'a query per request', 'svcAuth']
const FEW = 1000

export const guardColdKeys: Benchmark = {
  name: 'guard-cold',
  title: 'Keys that the process has not seen: each request another of 100 000.',
  limitSeconds: 400,
  async run(bench: Bench): Promise<Finding[]> {
    const stored = bench.size(100_000, 5000)
    const requests = bench.size(20_000, 1000)
    const connections = 64
    const database = await keyedDatabase(bench, stored)
    const load = await bench.start<LoadMethods>('load/load-process.ts')
    const contenders: Contender[] = []
    for (const guard of GUARDS) {
      const server = await bench.start<GuardedMethods>('guard/guarded-process.ts')
      let turn = 0
      contenders.push({
        name: guard,
        measure() {
          const keys = keyTexts((turn++ * requests) % stored, requests)
          return measureCold({ server, guard, database, load, connections, keys })
        },
      })
    }
    const measured = await interleave(contenders, bench, 2)
    const settings = { 'live keys': stored, connections, requests }
    const against = 'a query per request'
    return [
      {
        title: 'Cold keys: throughput',
        unit: 'requests per second',
        better: 'more',
        settings,
        rows: rowsOf(measured, 'rate', { against }),
      },
      {
        title: 'Cold keys: CPU',
        unit: 'µs of the server process per request',
        better: 'less',
        settings,
        rows: rowsOf(measured, 'cpu', { against }),
      },
    ]
  },
}

export const growthKeys: Benchmark = {
  name: 'growth-keys',
  title: 'A key that the process has not seen, among a million against among a thousand.',
  limitSeconds: 900,
  async run(bench: Bench): Promise<Finding[]> {
    const many = bench.size(1_000_000, 20_000)
    const restarts = bench.size(8, 1)
    const connections = 16
    const load = await bench.start<LoadMethods>('load/load-process.ts')
    const contenders: Contender[] = []
    for (const stored of [FEW, many]) {
      bench.tell(`storing ${stored} keys`)
      const database = await keyedDatabase(bench, stored)
      const server = await bench.start<GuardedMethods>('guard/guarded-process.ts')
      // Spread over all that are stored: lookups should not share pages of the index.
      const keys = Array.from({ length: FEW }, (_, n) => keyText(n * (stored / FEW)))
      contenders.push({
        name: `${stored} keys`,
        async measure() {
          let seconds = 0
          for (let i = 0; i < restarts; i++) {
            const guard = 'svcAuth'
            const cold = await measureCold({ server, guard, database, load, connections, keys })
            seconds += FEW / cold.rate
          }
          return { rate: (FEW * restarts) / seconds }
        },
      })
    }
    const measured = await interleave(contenders, bench)
    const goals = { [`${many} keys`]: { ratioAtLeast: 0.9 } }
    return [
      {
        title: 'Cold keys as the table grows',
        unit: 'requests per second',
        better: 'more',
        settings: { connections, 'cold keys': FEW, restarts },
        rows: rowsOf(measured, 'rate', { against: `${FEW} keys`, goals }),
      },
    ]
  },
}

interface Cold {
  server: Process<GuardedMethods>
  guard: GuardName
  database: string
  load: Process<LoadMethods>
  connections: number
  keys: string[]
}

/** Each key once, on a server that was just started and has none cached. */
async function measureCold({ server, guard, database, load, connections, keys }: Cold) {
  const port = await server.call('start', guard, { database, keys: [] })
  await load.call('aim', port, connections, withKeys(keys))
  const { result, growth } = await growthOf({ cpu: server.cpu }, () =>
    load.call('load', keys.length),
  )
  return { rate: result.perSecond, cpu: (growth.cpu ?? Number.NaN) / keys.length }
}
