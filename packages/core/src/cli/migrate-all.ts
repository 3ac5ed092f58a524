/** Creates the tables and queues of core and of the packages installed beside it. */
import type { FastifyBaseLogger } from 'fastify'
import { RunningCore } from '../core.ts'
import { resolveCoreOptions } from '../core-options.ts'
import { explainingRights } from '../migrations/missing-rights.ts'
import type { Db } from '../postgres/transaction.ts'
import { installedPackages } from './installed-packages.ts'

/** The result of a command. */
export interface Outcome {
  /** The packages that it created tables of, or looked for tables of. */
  packages: string[]
  /** What was created, a line each. */
  made: string[]
  problems: Problem[]
}

/** What is missing of a package, or could not be created. */
export interface Problem {
  owner: string
  error: Error & { code?: string }
}

/** If one package fails, the tables of the others are still created. */
export async function migrateAll(
  url: string,
  schema: string | undefined,
  log: FastifyBaseLogger,
): Promise<Outcome> {
  const settings = resolveCoreOptions({
    database: { connectionString: url, max: 2 },
    schema,
    worker: { enabled: false },
  })
  const core = await RunningCore.start(settings, log, new AbortController().signal)
  try {
    const problems: Problem[] = []
    const packages = await installedPackages()
    for (const { name, prepareDatabase } of packages) {
      await explainingRights(core.db, () => prepareDatabase(core)).catch((error: Error) =>
        problems.push({ owner: name, error }),
      )
    }
    return {
      packages: ['@svc/core', ...packages.map(({ name }) => name)],
      made: await madeSince(core.db, core.startedAt),
      problems,
    }
  } finally {
    await core.close()
  }
}

async function madeSince(db: Db, since: Date): Promise<string[]> {
  const { rows } = await db.query(
    `select owner, name from svc."__svc.migrations" where applied_at >= $1 order by applied_at, name`,
    [since],
  )
  return rows.map(({ owner, name }: { owner: string; name: string }) => `${owner} ${name}`)
}
