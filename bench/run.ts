import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Arguments } from './arguments.ts'
import type { Bench, Benchmark, Checkout, Finding, StartOptions } from './benchmark.ts'
import { cpuReader } from './postgres/cpu.ts'
import { createDatabase, openServer, topStatements } from './postgres/server.ts'
import { startProcess, type Methods } from './process.ts'

export type RunOptions = Pick<Arguments, 'quick' | 'long' | 'statements' | 'rounds' | 'beside'> & {
  tell: (text: string) => void
}

export interface Outcome {
  findings: Finding[]
  seconds: number
  postgres: Record<string, string>
  statements?: string
}

const DEFAULT_ROUNDS = 3

/** Runs one benchmark on a server of its own, and closes everything it opened. */
export async function runBenchmark(benchmark: Benchmark, options: RunOptions): Promise<Outcome> {
  const { quick, long, tell } = options
  const startedAt = performance.now()
  // The processes end before the databases that they use.
  const databases: Stoppable[] = []
  const processes: Stoppable[] = []
  try {
    const server = await openServer(options)
    databases.push(server)
    const bench: Bench = {
      quick,
      long,
      rounds: options.rounds ?? (quick ? 1 : DEFAULT_ROUNDS),
      checkouts: checkoutsOf(options),
      size: (whole, small) => (quick ? small : whole),
      tell,
      postgresCpu: await cpuReader(server.url),
      async database() {
        const database = await createDatabase(server.url)
        databases.push(database)
        return database.url
      },
      async start<Served extends Methods>(module: string, how: StartOptions = {}) {
        const { flags = [], checkout = THIS } = how
        const process = await startProcess<Served>(new URL(module, checkout.folder), flags)
        processes.push(process)
        return process
      },
    }
    const findings = await within(benchmark.limitSeconds * (long ? 6 : 1), benchmark.run(bench))
    return {
      findings,
      seconds: (performance.now() - startedAt) / 1000,
      postgres: server.settings,
      ...(options.statements ? { statements: await topStatements(server.url) } : {}),
    }
  } finally {
    await stopAll(processes)
    await stopAll(databases)
  }
}

const THIS: Checkout = { mark: '', folder: new URL('./', import.meta.url) }

function checkoutsOf({ beside }: RunOptions): Checkout[] {
  if (beside === undefined) return [THIS]
  return [{ mark: ', other checkout', folder: pathToFileURL(resolve(beside, 'bench') + '/') }, THIS]
}

type Stoppable = { stop(): Promise<void> }

async function stopAll(things: Stoppable[]): Promise<void> {
  for (const thing of things.toReversed()) {
    await thing.stop().catch((error: Error) => console.error(`! ${error.message}`))
  }
}

async function within<Result>(seconds: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`gave up after ${seconds} s`)), seconds * 1000)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    // After the time limit the rest of the work fails, because its processes are ended.
    work.catch(() => {})
  }
}
