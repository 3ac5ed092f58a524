/** Looks for what core and the packages installed beside it need in the database. */
import type { FastifyBaseLogger } from 'fastify'
import type { Core } from '../core-interface.ts'
import { resolveCoreOptions, type CoreSettings } from '../core-options.ts'
import { JobsSchemaDiffers } from '../errors.ts'
import { assertQueueIsMade } from '../jobs/pg-boss/boss.ts'
import {
  assertBossIsMade,
  assertTablesAreAsNeeded,
  isBossInstalled,
} from '../jobs/pg-boss/boss-tables.ts'
import { migrate, type MigrationBoot } from '../migrations/migrate.ts'
import { explainingRights } from '../migrations/missing-rights.ts'
import { lackOf } from '../migrations/missing-schema.ts'
import { MIGRATIONS } from '../open-core.ts'
import { openDatabase, type Database } from '../postgres/pools.ts'
import { namesOf } from '../postgres/schema-names.ts'
import { installedPackages } from './installed-packages.ts'
import type { Outcome, Problem } from './migrate-all.ts'

/**
 * Does not start core, which ends at the first thing that is missing: the rest would stay unknown.
 */
export async function checkAll(
  url: string,
  schema: string | undefined,
  log: FastifyBaseLogger,
): Promise<Outcome> {
  const settings = resolveCoreOptions({ migrate: 'check', schema })
  const { signal } = new AbortController()
  const logError = (err: Error) => log.warn({ err }, 'connection to Postgres lost')
  const names = namesOf(settings.schema)
  const database = await openDatabase({ connectionString: url, max: 2 }, logError, { names })
  const { pool, workerPool, db } = database
  const boot = { pool, workerPool, log, signal, isCheck: true }
  try {
    return await explainingRights(db, async () => {
      const packages = await installedPackages()
      const core = coreToCheck(boot, settings, database, await isBossInstalled(db))
      const problems = [
        await problemOf('@svc/core', () => migrate(boot, '@svc/core', MIGRATIONS)),
        await problemOf('pg-boss', async () => {
          await assertBossIsMade(db)
          await assertTablesAreAsNeeded(db)
        }),
      ]
      for (const { name, prepareDatabase } of packages) {
        problems.push(await problemOf(name, () => prepareDatabase(core)))
      }
      return {
        packages: ['@svc/core', ...packages.map(({ name }) => name)],
        made: [],
        problems: problems.filter((problem) => problem !== undefined),
      }
    })
  } finally {
    await database.close()
  }
}

/** What is missing or differs; another error is thrown. */
async function problemOf(
  owner: string,
  look: () => Promise<unknown>,
): Promise<Problem | undefined> {
  try {
    await look()
    return undefined
  } catch (error) {
    const isProblem = lackOf(error as Error) !== undefined || error instanceof JobsSchemaDiffers
    if (!isProblem) throw error
    return { owner, error: error as Error }
  }
}

/** The part of core that a package uses when it looks for its tables. */
function coreToCheck(
  boot: MigrationBoot,
  settings: CoreSettings,
  database: Database,
  hasQueues: boolean,
): Core {
  const core: Pick<Core, 'settings' | 'migrate'> & { queues: Pick<Core['queues'], 'define'> } = {
    settings,
    migrate: (owner, folder) => migrate(boot, owner, folder),
    queues: {
      define: async (queue) => (hasQueues ? assertQueueIsMade(database, queue) : undefined),
    },
  }
  return core as Core
}
