/**
 * Contenders in one process, so that they share what the compiler made of the code, and take turns
 * in short slices, so that whatever else happens on the machine happens to all of them.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Bench } from '../benchmark.ts'
import type { LoadMethods } from '../load/load-process.ts'
import { growthOf, turnsOf, type Measured } from '../measure.ts'
import type { Process } from '../process.ts'
import type { GuardedMethods, GuardName } from './guarded-process.ts'
import { withKeys } from './keys.ts'

export const CONNECTIONS = 64

/** A young generation that grows would make later slices cheaper than earlier ones. */
export const FLAGS = ['--expose-gc', '--min-semi-space-size=16', '--max-semi-space-size=16']
/** By then, all work that the requests started has ended. */
const AFTERMATH_MS = 20

export interface SliceContender {
  name: string
  keys: string[]
  /** @default 'svcAuth' */
  guard?: GuardName
  /** Contenders with the same name here share a server, and its cache of keys. @default the guard */
  server?: string
}

export interface SlicePlan {
  database: string
  slices: number
  requestsPerSlice: number
  /** Requests to each contender before the first slice. */
  warmUpRequests: number
  /** How many slices of each contender are run before those that are measured. @default 0 */
  warmUpSlices?: number
  /** Whether a slice ends with the write of what was counted in it. */
  writesUsage?: boolean
  /** For how long the server is watched after the warm-up of each contender. */
  restMs?: number
}

export interface Sliced {
  /** CPU time of the server per request, in each slice. */
  slices: Measured
  /**
   * What the keys of a contender add to the heap of each process, and its CPU time while it rests.
   */
  rests: Measured
}

export const nothingSliced = (names: readonly string[]): Sliced => ({
  slices: new Map(names.map((name) => [name, []])),
  rests: new Map(names.map((name) => [name, []])),
})

/** Measures in a fresh process, and adds to what was measured before. */
export async function addSlices(
  bench: Bench,
  { slices, rests }: Sliced,
  contenders: readonly SliceContender[],
  plan: SlicePlan,
): Promise<void> {
  const server = await bench.start<GuardedMethods>('guard/guarded-process.ts', { flags: FLAGS })
  const loads: Process<LoadMethods>[] = []
  try {
    const ports = new Map<string, number>()
    for (const { keys, guard = 'svcAuth', server: name = guard } of contenders) {
      const settings = { database: plan.database, keys }
      const port = ports.get(name) ?? (await server.call('startBeside', guard, settings))
      ports.set(name, port)
      const load = await bench.start<LoadMethods>('load/load-process.ts')
      loads.push(load)
      await load.call('aim', port, CONNECTIONS, withKeys(keys))
    }
    const aimed = contenders.map(({ name }, index) => ({ name, load: loads[index]! }))
    for (const { name, load } of aimed) {
      rests.get(name)?.push(await warmUp(server, load, plan))
    }
    const warmUpSlices = plan.warmUpSlices ?? 0
    for (let slice = -warmUpSlices; slice < plan.slices; slice++) {
      for (const { name, load } of turnsOf(aimed, slice + warmUpSlices)) {
        const cpu = await measureSlice(server, load, plan)
        if (slice >= 0) slices.get(name)?.push({ cpu })
      }
    }
  } finally {
    for (const load of loads) await load.stop()
    await server.stop()
  }
}

async function warmUp(
  server: Process<GuardedMethods>,
  load: Process<LoadMethods>,
  { warmUpRequests, restMs = 0 }: SlicePlan,
): Promise<{ heap: number; rest: number }> {
  const before = await server.call('heapMegabytes')
  await load.call('load', warmUpRequests)
  const heap = (await server.call('heapMegabytes')) - before
  const { growth } = await growthOf({ cpu: server.cpu }, () => wait(restMs))
  return { heap, rest: (growth.cpu ?? Number.NaN) / restMs }
}

async function measureSlice(
  server: Process<GuardedMethods>,
  load: Process<LoadMethods>,
  { requestsPerSlice, writesUsage = false }: SlicePlan,
): Promise<number> {
  await server.call('collectGarbage')
  const { growth } = await growthOf({ cpu: server.cpu }, async () => {
    await load.call('load', requestsPerSlice, { sleepless: true })
    if (writesUsage) await server.call('writeUsage')
    await wait(AFTERMATH_MS)
  })
  return (growth.cpu ?? Number.NaN) / requestsPerSlice
}
