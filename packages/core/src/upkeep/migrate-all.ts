/** Creates the tables and queues of core and of the packages installed beside it. */
import { RunningCore } from '../core.ts'
import { resolveCoreOptions } from '../core-options.ts'
import { DatabaseUnreachable } from '../errors.ts'
import { explainingRights } from '../migrations/missing-rights.ts'
import type { Db } from '../postgres/transaction.ts'
import { assertRole, grantAll } from './grants.ts'
import { installedPackages } from './installed-packages.ts'
import { withDatabase, type Place } from './with-database.ts'

export interface Upkeep extends Place {
  /** A role that is to have the rights of hosts with `migrate: 'check'`. */
  grantTo?: string | undefined
}

export interface Outcome {
  packages: string[]
  /** What was created, a line each. */
  made: string[]
  /** The statements that would give the role what it lacks. */
  lackedGrants: string[]
  problems: Problem[]
}

/** What is missing of a package, or could not be created. */
export interface Problem {
  owner: string
  error: Error & { code?: string }
  /** What the database lacks, where that is the problem. */
  lack?: string
}

/** If one package fails, the tables of the others are still created. */
export async function migrateAll({ grantTo, ...upkeep }: Upkeep): Promise<Outcome> {
  const { schema, log, signal } = upkeep
  const database = { ...upkeep.database, max: 2 }
  const settings = resolveCoreOptions({ database, schema, worker: { enabled: false } })
  // Before anything is made: a name with a typing error is no reason for half the work.
  if (grantTo !== undefined) await withDatabase(upkeep, ({ db }) => assertRole(db, grantTo))
  log.info({ owner: '@svc/core' }, LOOKS)
  const core = await RunningCore.start(settings, log, signal)
  try {
    const problems: Problem[] = []
    const packages = await installedPackages()
    for (const { name, prepareDatabase } of packages) {
      log.info({ owner: name }, LOOKS)
      await explainingRights(core.db, () => prepareDatabase(core)).catch((error: Error) => {
        signal.throwIfAborted()
        // The next package would meet the same.
        if (error instanceof DatabaseUnreachable) throw error
        problems.push({ owner: name, error })
      })
    }
    if (grantTo !== undefined) await core.transaction((db) => grantAll(db, grantTo))
    return {
      packages: ['@svc/core', ...packages.map(({ name }) => name)],
      made: await madeSince(core.db, core.startedAt),
      lackedGrants: [],
      problems,
    }
  } finally {
    await core.close()
  }
}

const LOOKS = 'looking for what a package lacks'

async function madeSince(db: Db, since: Date): Promise<string[]> {
  const { rows } = await db.query(
    `select owner, name from svc."__svc.migrations" where applied_at >= $1 order by applied_at, name`,
    [since],
  )
  return rows.map(({ owner, name }: { owner: string; name: string }) => `${owner} ${name}`)
}
