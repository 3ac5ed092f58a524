import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import type { LoadMethods } from '../load/load-process.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { startProcess } from '../processes/process.ts'
import { withKeys } from './bearer.ts'
import type { GuardedMethods, GuardName } from './guarded-process.ts'
import { keyedDatabase } from './keyed-database.ts'
import { keyTexts } from './key-texts.ts'

const CONNECTIONS = 64
const names: GuardName[] = ['no guard', 'a query per request', 'svcAuth']

export const guardColdKeys: Benchmark = {
  name: 'guard-cold',
  title: 'Keys that the process has not seen: each request another of 100 000.',
  limitSeconds: 400,
  async run(bench: Bench): Promise<Finding[]> {
    const stored = bench.size(100_000, 5000)
    const requests = bench.size(20_000, 1000)
    const database = await keyedDatabase(bench, stored)
    const load = bench.owns(
      await startProcess<LoadMethods>(new URL('../load/load-process.ts', import.meta.url)),
    )
    const contenders = await Promise.all(
      names.map(async (name) => {
        const server = bench.owns(
          await startProcess<GuardedMethods>(new URL('guarded-process.ts', import.meta.url)),
        )
        let turn = 0
        return {
          name,
          async measure() {
            // Started anew, it has forgotten every key.
            const port = await server.call('start', name, { database, keys: [] })
            const from = (turn++ * requests) % stored
            await load.call('aim', port, CONNECTIONS, withKeys(keyTexts(from, requests)))
            const before = await server.call('usage')
            const loaded = await load.call('closedLoop', requests)
            const after = await server.call('usage')
            if (loaded.statuses[200] !== requests) {
              throw new Error(`${name} answered ${JSON.stringify(loaded.statuses)}`)
            }
            return {
              rate: loaded.perSecond,
              cpu: (after.cpuMicroseconds - before.cpuMicroseconds) / requests,
            }
          },
        }
      }),
    )
    const measured = await interleave(contenders, {
      warmUps: 2,
      rounds: bench.rounds,
      tell: bench.tell,
    })
    const settings = { 'live keys': stored, connections: CONNECTIONS, requests }
    const rows = (figure: string) =>
      names.map((name) => ({
        name,
        samples: samplesOf(measured, name, figure),
        ...(name === 'svcAuth' ? { against: 'a query per request' } : {}),
      }))
    return [
      {
        title: 'Cold keys: throughput',
        unit: 'requests per second',
        better: 'more',
        settings,
        rows: rows('rate'),
      },
      {
        title: 'Cold keys: CPU',
        unit: 'µs of the server process per request',
        better: 'less',
        settings,
        rows: rows('cpu'),
      },
    ]
  },
}
