/** Looks for what core and the packages installed beside it need in the database. */
import { resolveCoreOptions } from '../core-options.ts'
import { JobsSchemaDiffers } from '../errors.ts'
import { assertQueueIsMade } from '../jobs/pg-boss/boss.ts'
import {
  assertBossIsMade,
  assertTablesAreAsNeeded,
  isBossInstalled,
} from '../jobs/pg-boss/boss-tables.ts'
import { assertCitusUsable, findCitus } from '../migrations/citus.ts'
import { migrate } from '../migrations/migrate.ts'
import { explainingRights } from '../migrations/missing-rights.ts'
import { lackOf } from '../migrations/missing-schema.ts'
import { MIGRATIONS } from '../open-core.ts'
import { lackedGrants } from './grants.ts'
import { installedPackages, type PreparingCore } from './installed-packages.ts'
import type { Outcome, Problem, Upkeep } from './migrate-all.ts'
import { withDatabase } from './with-database.ts'

/**
 * Does not start core, which ends at the first thing that is missing: the rest would stay unknown.
 */
export function checkAll({ grantTo, ...place }: Upkeep): Promise<Outcome> {
  const settings = resolveCoreOptions({ migrate: 'check', schema: place.schema })
  return withDatabase(place, async (database) => {
    const { pool, workerPool, db } = database
    return explainingRights(db, async () => {
      const citus = await findCitus(db)
      if (citus !== null) await assertCitusUsable(db, citus)
      const { log, signal } = place
      const boot = { pool, workerPool, log, signal, isCheck: true, citus }
      const packages = await installedPackages()
      const hasQueues = await isBossInstalled(db)
      const core: PreparingCore = {
        settings,
        migrate: (owner, folder) => migrate(boot, owner, folder),
        queues: {
          define: async (queue) => (hasQueues ? assertQueueIsMade(database, queue) : undefined),
        },
      }
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
        lackedGrants: grantTo === undefined ? [] : await lackedGrants(db, grantTo),
        problems: problems.filter((problem) => problem !== undefined),
      }
    })
  })
}

async function problemOf(
  owner: string,
  look: () => Promise<unknown>,
): Promise<Problem | undefined> {
  try {
    await look()
    return undefined
  } catch (error) {
    const lack = lackOf(error as Error)
    if (lack === undefined && !(error instanceof JobsSchemaDiffers)) throw error
    return { owner, error: error as Error, ...(lack === undefined ? {} : { lack }) }
  }
}
