/** Whether pg-boss's tables are there. */
import { createRequire } from 'node:module'
import { assertNoMissingSchema } from '../../migrations/missing-schema.ts'
import type { Db } from '../../postgres/transaction.ts'

export const JOBS_SCHEMA = 'svc_jobs'

/** The version of its tables that this version of pg-boss needs. */
export const SCHEMA_VERSION = (
  createRequire(import.meta.url)('pg-boss/package.json') as { pgboss: { schema: number } }
).pgboss.schema

/** Returns the version of its tables. @throws SchemaMissing */
export async function assertBossIsMade(db: Db): Promise<number> {
  const { rows } = (await isBossInstalled(db))
    ? await db.query(`select version from ${JOBS_SCHEMA}.version`)
    : { rows: [] }
  const version = Number((rows[0] as { version: number } | undefined)?.version ?? 0)
  const isMade = version >= SCHEMA_VERSION
  assertNoMissingSchema(
    isMade ? await missingTables(db) : [`the schema ${JOBS_SCHEMA} in version ${SCHEMA_VERSION}`],
    'pg-boss',
  )
  return version
}

/** Of the tables that our statements name. */
async function missingTables(db: Db): Promise<string[]> {
  const { rows } = await db.query(
    `select 'the table ' || name as missing from unnest($1::text[]) as name
      where to_regclass(name) is null`,
    [['job', 'queue'].map((name) => `${JOBS_SCHEMA}.${name}`)],
  )
  return rows.map(({ missing }: { missing: string }) => missing)
}

/** Whether pg-boss's schema exists. pg-boss's own lock guards the changes of later versions. */
export async function isBossInstalled(db: Db): Promise<boolean> {
  const { rows } = await db.query(`select to_regclass('${JOBS_SCHEMA}.version') is not null as yes`)
  return rows[0].yes
}
