/**
 * What telemetry costs where no SDK of OpenTelemetry is registered: in one process a copy of the
 * packages takes turns with one that asks for an SDK a hundred times more, in short slices. A
 * hundredth of the difference is what asking costs; without it the code has no telemetry.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Bench, Benchmark, Finding } from './benchmark.ts'
import { TIMES } from './copies.ts'
import type { CopiesMethods } from './delivery/copies-process.ts'
import { startReceiver } from './delivery/stage.ts'
import type { HookMethods } from './guard/hook-process.ts'
import { keyedDatabase, keyTexts } from './guard/keys.ts'
import { FLAGS } from './guard/slices.ts'
import { growthOf, turnsOf, rowsOf, summaryOf, type Measured } from './measure.ts'
import type { Goal } from './report.ts'

const CUT = 'without telemetry, calculated'
const WHOLE = 'without an SDK'
const AGAIN = `asks ${TIMES} times more`
/** The name of each copy, by the row that it makes. */
const COPIES = { [WHOLE]: 'whole', [AGAIN]: 'again' }
const GOALS: Record<string, Goal> = { [WHOLE]: { ratioSurelyAtLeast: 0.99 } }

const PROCESSES_OF_A_ROUND = 3
const LIVE_KEYS = 1000
const CALLERS = 100
/** By then the deliveries that have arrived are settled. */
const SETTLE_MS = 100

export const guardTelemetry: Benchmark = {
  name: 'guard-telemetry',
  title: 'CPU time of the guard without an SDK of OpenTelemetry, against itself without telemetry.',
  limitSeconds: 1800,
  async run(bench: Bench): Promise<Finding[]> {
    const keys = keyTexts(0, bench.size(LIVE_KEYS, 50))
    const calls = bench.size(5000, 200)
    const database = await keyedDatabase(bench, keys.length)
    const plan = { slices: bench.size(100, 2), warmUp: bench.size(30, 1) }
    const measured = await measureCopies(bench, plan, async (copies) => {
      const guard = await bench.start<HookMethods>('guard/hook-process.ts', { flags: FLAGS })
      for (const copy of copies) await guard.call('start', copy, database, keys)
      return { slice: (host) => guard.call('slice', host, calls), stop: () => guard.stop() }
    })
    return [
      {
        title: 'Guard without an SDK: CPU',
        unit: 'µs of the hook per request',
        better: 'less',
        settings: { 'live keys': keys.length, slices: plan.slices, 'requests of a slice': calls },
        rows: rowsOf(measured, 'cpu', { against: CUT, goals: GOALS }),
      },
    ]
  },
}

export const deliveryTelemetry: Benchmark = {
  name: 'delivery-telemetry',
  title:
    'CPU time of publish and delivery without an SDK of OpenTelemetry, against themselves without telemetry.',
  limitSeconds: 3600,
  async run(bench: Bench): Promise<Finding[]> {
    const receiver = await startReceiver(bench)
    const deliveries = bench.size(500, 50)
    const plan = { slices: bench.size(40, 2), warmUp: bench.size(10, 1) }
    const measured = await measureCopies(bench, plan, async (copies) => {
      const process = await bench.start<CopiesMethods>('delivery/copies-process.ts', {
        flags: FLAGS,
      })
      for (const copy of copies) {
        await process.call('start', copy, await bench.database(), receiver.at(`/${copy}`))
      }
      const slice = async (host: number) => {
        await receiver.call('reset')
        await process.call('collectGarbage')
        const { growth } = await growthOf({ cpu: process.cpu }, async () => {
          await Promise.all([
            process.call('publish', host, deliveries, CALLERS),
            receiver.call('reached', deliveries, 60),
          ])
          await wait(SETTLE_MS)
        })
        return (growth.cpu ?? Number.NaN) / deliveries
      }
      return { slice, stop: () => process.stop() }
    })
    return [
      {
        title: 'Publish and delivery without an SDK: CPU',
        unit: 'µs of the process per delivery',
        better: 'less',
        settings: { slices: plan.slices, 'deliveries of a slice': deliveries, callers: CALLERS },
        rows: rowsOf(measured, 'cpu', { against: CUT, goals: GOALS }),
      },
    ]
  },
}

interface Plan {
  /** Of each copy in each process. */
  slices: number
  /** Slices before them, for the compiler. */
  warmUp: number
}

interface Subject {
  /** Measures a slice of the copy at this place, and returns its CPU time. */
  slice(place: number): Promise<number>
  stop(): Promise<void>
}

/** For each copy one figure for each process, the median of its slices; and what follows. */
async function measureCopies(
  bench: Bench,
  { slices, warmUp }: Plan,
  begin: (copies: string[]) => Promise<Subject>,
): Promise<Measured> {
  const measured: Measured = new Map([CUT, WHOLE, AGAIN].map((name) => [name, []]))
  const processes = bench.rounds * bench.size(PROCESSES_OF_A_ROUND, 1)
  for (let turn = 0; turn < processes; turn++) {
    bench.tell(`process ${turn + 1} of ${processes}`)
    const copies = turnsOf(Object.entries(COPIES), turn)
    const subject = await begin(copies.map(([, copy]) => copy))
    const figures = copies.map(([name], place) => ({ name, place, cpu: [] as number[] }))
    for (let slice = -warmUp; slice < slices; slice++) {
      for (const { place, cpu } of turnsOf(figures, slice + warmUp)) {
        const used = await subject.slice(place)
        if (slice >= 0) cpu.push(used)
      }
    }
    await subject.stop()
    const cpu = new Map(figures.map(({ name, cpu: all }) => [name, summaryOf(all).median]))
    const [whole = Number.NaN, again = Number.NaN] = [cpu.get(WHOLE), cpu.get(AGAIN)]
    cpu.set(CUT, whole - (again - whole) / TIMES)
    for (const [name, used] of cpu) measured.get(name)?.push({ cpu: used })
  }
  return measured
}
