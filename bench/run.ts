import type { Bench, Benchmark, Finding } from './benchmark.ts'
import { createDatabase } from './postgres/databases.ts'
import { cpuOfServer } from './postgres/server-cpu.ts'
import { openServer } from './postgres/server.ts'
import { topStatements } from './postgres/statements.ts'
import { Scope } from './scope.ts'

export interface RunOptions {
  quick: boolean
  long: boolean
  statements: boolean
  rounds: number | undefined
  tell: (text: string) => void
}

export interface Outcome {
  findings: Finding[]
  seconds: number
  postgres: Record<string, string>
  statements?: string
}

const WHOLE_ROUNDS = 3

/** Runs one benchmark on a server of its own, and leaves nothing behind, whatever happens. */
export async function runBenchmark(benchmark: Benchmark, options: RunOptions): Promise<Outcome> {
  const { quick, long, tell } = options
  const startedAt = performance.now()
  // Whoever uses a database has to end before it does.
  const databases = new Scope()
  const users = new Scope()
  try {
    const server = databases.owns(await openServer(options))
    const bench: Bench = {
      quick,
      long,
      rounds: options.rounds ?? (quick ? 1 : WHOLE_ROUNDS),
      size: (whole, small) => (quick ? small : whole),
      tell,
      owns: (thing) => users.owns(thing),
      postgresCpu: () => cpuOfServer(server.url),
      async database() {
        const database = await createDatabase(server.url)
        databases.owns({ stop: () => database.drop() })
        return database.url
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
    await users.close()
    await databases.close()
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
    // What still runs is about to lose its processes and its server: that is no news.
    work.catch(() => {})
  }
}
