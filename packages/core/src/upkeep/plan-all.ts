/** The SQL that migrate-all.ts would run on a database. */
import { readFile } from 'node:fs/promises'
import { resolveCoreOptions } from '../core-options.ts'
import { planBoss, planQueue } from '../jobs/pg-boss/plan.ts'
import { findPending } from '../migrations/migrate.ts'
import { explainingRights } from '../migrations/missing-rights.ts'
import { createMigrationsTable, HAND_OVER } from '../migrations/migrations-table.ts'
import { MIGRATIONS } from '../open-core.ts'
import type { Db } from '../postgres/transaction.ts'
import { lackedGrants } from './grants.ts'
import { installedPackages, type PreparingCore } from './installed-packages.ts'
import type { Upkeep } from './migrate-all.ts'
import { withDatabase } from './with-database.ts'

/**
 * Scripts in their order, each with a comment that says what it is of, and in a transaction of its own. None:
 * there is nothing to do. The partitions of the next days of the delivery log are not in it.
 */
export function planAll({ grantTo, ...place }: Upkeep): Promise<string[]> {
  const settings = resolveCoreOptions({ migrate: 'check', schema: place.schema })
  return withDatabase(place, async ({ db, pool: { names } }) => {
    const scripts: string[] = []
    const collect = async (title: string, run: (plan: Db) => Promise<unknown>): Promise<void> => {
      const texts: string[] = []
      const query = async (text: string) => {
        texts.push(`${(names?.statement(text) ?? text).replace(/^\/\*\*\//, '').trim()}`)
        return { rows: [] }
      }
      await run({ query })
      if (texts.length === 0) return
      const all = texts.map((text) => (text.endsWith(';') ? text : `${text};`)).join('\n')
      // pg-boss's scripts have a transaction of their own.
      const script = /^\s*begin;/i.test(all) ? all : `begin;\n${all}\ncommit;`
      scripts.push(`-- ${title}\n${script}`)
    }
    let hasTable = false
    const migrate = async (owner: string, folder: URL): Promise<void> => {
      const { pending } = await findPending(db, owner, folder)
      if (pending.length === 0) return
      if (!hasTable) {
        await collect('the table of migrations', (plan) =>
          createMigrationsTable({
            query: (text) => (text.startsWith('select') ? db.query(text) : plan.query(text)),
          }),
        )
      }
      hasTable = true
      for (const name of pending) {
        await collect(`${owner} ${name}`, async (plan) => {
          await plan.query(await readFile(new URL(name, folder), 'utf8'))
          await plan.query(
            `insert into svc."__svc.migrations" (owner, name) values ('${owner}', '${name}')`,
          )
        })
      }
      await collect('gives what was made to the owner of the tables', (plan) =>
        plan.query(HAND_OVER),
      )
    }
    const core: PreparingCore = {
      settings,
      migrate,
      queues: {
        define: (queue) => collect(`the queue ${queue}`, (plan) => planQueue(db, plan, queue)),
      },
    }
    return explainingRights(db, async () => {
      await migrate('@svc/core', MIGRATIONS)
      await collect('pg-boss', (plan) => planBoss(db, plan, names?.jobs))
      for (const { prepareDatabase } of await installedPackages()) await prepareDatabase(core)
      if (grantTo !== undefined) {
        const grants = await lackedGrants(db, grantTo)
        if (grants.length > 0) {
          scripts.push(`-- rights of ${grantTo}\nbegin;\n${grants.join(';\n')};\ncommit;`)
        }
      }
      return scripts
    })
  })
}
