import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { makePackedHost } from '../tests/support/packed-host.ts'
import type { Bench, Benchmark, Finding } from './benchmark.ts'
import { besideOther } from './beside.ts'
import { startReceiver } from './delivery/stage.ts'
import { growthOf, interleave, rowsOf, type Contender } from './measure.ts'
import { query } from './postgres/server.ts'
import type { Goal } from './report.ts'

const ALL = 'svcAuth and svcWebhooks'
const MANY = 'svcAuth and svcWebhooks with many webhooks'
const PUBLISHER = 'svcCore that only publishes'
/** As at-rest-process.js names them. */
const KINDS = ['Node', 'Fastify', PUBLISHER, ALL, MANY]
const isOurs = (kind: string): boolean => kind.startsWith('svc')

/** The methods of at-rest-process.js. */
type AtRestMethods = {
  start(kind: string, database: string): Promise<void>
  publish(): Promise<void>
  register(url: string, ordered: number, limited: number, paused: number): Promise<void>
  statements(): number
}

const FIGURES: [name: string, unit: string, goals: Record<string, Goal>][] = [
  ['memory', 'MiB (RSS)', { [ALL]: { atMost: 100 } }],
  [
    'CPU',
    '% of a core, process and Postgres',
    { [ALL]: { atMost: 0.5 }, [MANY]: { atMost: 1 }, [PUBLISHER]: { atMost: 0.2 } },
  ],
  ['CPU of the process', '% of a core', {}],
  ['CPU of Postgres', '% of a core', {}],
  ['statements', 'statements per second', { [ALL]: { atMost: 4 }, [MANY]: { atMost: 4 } }],
]

export const atRest: Benchmark = {
  name: 'at-rest',
  title: 'The memory, CPU and statements of a process a minute after its last event.',
  limitSeconds: 3600,
  async run(bench: Bench): Promise<Finding[]> {
    // Autovacuum looks into each database once a minute.
    const seconds = bench.size(60, 1)
    const contenders: Contender[] = []
    const hosts: string[] = []
    try {
      for (const { mark, folder } of bench.checkouts) {
        const host = makePackedHost(['fastify', 'pg'], fileURLToPath(new URL('../', folder)))
        hosts.push(host)
        copyFileSync(new URL('at-rest-process.js', import.meta.url), join(host, 'process.js'))
        const module = pathToFileURL(join(host, 'process.js')).href
        const database = await preparedDatabase(bench, module, ALL)
        const databaseOfMany = await preparedDatabase(bench, module, MANY)
        for (const kind of mark === '' ? KINDS : KINDS.filter(isOurs)) {
          const its = kind === MANY ? databaseOfMany : database
          const measure = () => turn(bench, module, kind, its, seconds)
          contenders.push({ name: `${kind}${mark}`, measure })
        }
      }
      const measured = await interleave(contenders, bench, 0)
      return FIGURES.flatMap(([figure, unit, goals]): Finding[] => {
        const about = {
          title: `A minute after the last event, ${figure}`,
          unit,
          better: 'less',
          settings: { seconds },
        } as const
        return [
          { ...about, rows: rowsOf(measured, figure, { names: KINDS, goals }) },
          ...besideOther(bench, measured, ALL, figure, about),
          ...besideOther(bench, measured, MANY, figure, about),
          ...besideOther(bench, measured, PUBLISHER, figure, about),
        ]
      })
    } finally {
      for (const host of hosts) rmSync(host, { recursive: true })
    }
  },
}

/** With its tables made and analysed: else autovacuum would do that while a process is measured. */
async function preparedDatabase(bench: Bench, module: string, kind: string): Promise<string> {
  const database = await bench.database()
  const process = await bench.start<AtRestMethods>(module)
  await process.call('start', kind, database)
  if (kind === MANY) {
    const receiver = await startReceiver(bench)
    await process.call('register', receiver.at('/'), 50, 50, bench.size(10_000, 10))
    await receiver.call('reached', 100, 60)
  } else await process.call('publish')
  await process.stop()
  await query(database, 'vacuum analyze')
  return database
}

async function turn(bench: Bench, module: string, kind: string, database: string, seconds: number) {
  const process = await bench.start<AtRestMethods>(module)
  await process.call('start', kind, database)
  if (isOurs(kind)) await process.call('publish')
  await pause(bench.size(60_000, 0))
  const counters = {
    process: process.cpu,
    Postgres: bench.postgresCpu,
    statements: () => process.call('statements'),
  }
  const { growth } = await growthOf(counters, () => pause(seconds * 1000))
  const memory = await process.rssMegabytes()
  await process.stop()
  const { process: own = Number.NaN, Postgres = Number.NaN, statements = Number.NaN } = growth
  const percent = seconds * 1e4
  return {
    memory,
    CPU: (own + Postgres) / percent,
    'CPU of the process': own / percent,
    'CPU of Postgres': Postgres / percent,
    statements: statements / seconds,
  }
}
