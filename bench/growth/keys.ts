import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import { withKeys } from '../guard/bearer.ts'
import type { GuardedMethods } from '../guard/guarded-process.ts'
import { keyText } from '../guard/key-texts.ts'
import { keyedDatabase } from '../guard/keyed-database.ts'
import type { LoadMethods } from '../load/load-process.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { startProcess } from '../processes/process.ts'

const CONNECTIONS = 16
const FEW = 1000

export const growthKeys: Benchmark = {
  name: 'growth-keys',
  title: 'A key that the process has not seen, among a million against among a thousand.',
  limitSeconds: 900,
  async run(bench: Bench): Promise<Finding[]> {
    const many = bench.size(1_000_000, 20_000)
    const restarts = bench.size(8, 1)
    const load = bench.owns(
      await startProcess<LoadMethods>(new URL('../load/load-process.ts', import.meta.url)),
    )
    const contenders = []
    for (const stored of [FEW, many]) {
      bench.tell(`storing ${stored} keys`)
      const database = await keyedDatabase(bench, stored)
      const server = bench.owns(
        await startProcess<GuardedMethods>(new URL('../guard/guarded-process.ts', import.meta.url)),
      )
      // Spread over all that are stored: neighbours in the table are no neighbours in the index.
      const keys = Array.from({ length: FEW }, (_, n) => keyText(n * (stored / FEW)))
      contenders.push({
        name: `${stored} keys`,
        async measure() {
          let [seconds, p50] = [0, 0]
          for (let i = 0; i < restarts; i++) {
            // Started anew, it has forgotten every key.
            const port = await server.call('start', 'svcAuth', { database, keys: [] })
            await load.call('aim', port, CONNECTIONS, withKeys(keys))
            const loaded = await load.call('closedLoop', FEW)
            if (loaded.statuses[200] !== FEW) throw new Error(JSON.stringify(loaded.statuses))
            seconds += loaded.seconds
            p50 += loaded.latency.p50 / restarts
          }
          return { rate: (FEW * restarts) / seconds, p50 }
        },
      })
    }
    const measured = await interleave(contenders, {
      warmUps: 1,
      rounds: bench.rounds,
      tell: bench.tell,
    })
    const [few, lots] = contenders.map(({ name }) => name)
    if (!few || !lots) return []
    const settings = { connections: CONNECTIONS, 'cold keys': FEW, restarts }
    const rows = (figure: string) => [
      { name: few, samples: samplesOf(measured, few, figure) },
      { name: lots, samples: samplesOf(measured, lots, figure), against: few },
    ]
    return [
      {
        title: 'Cold keys as the table grows',
        unit: 'requests per second',
        better: 'more',
        settings,
        rows: rows('rate').map((row) =>
          row.name === lots ? { ...row, goal: { ratioAtLeast: 0.9 } } : row,
        ),
      },
      {
        title: 'Cold keys as the table grows, p50',
        unit: 'ms',
        better: 'less',
        settings,
        rows: rows('p50'),
      },
    ]
  },
}
