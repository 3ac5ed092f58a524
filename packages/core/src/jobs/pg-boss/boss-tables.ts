/** Whether pg-boss's tables are there, and are those that our statements were written for. */
import { createRequire } from 'node:module'
import { JobsSchemaDiffers } from '../../errors.ts'
import { assertNoMissingSchema } from '../../migrations/missing-schema.ts'
import type { Db } from '../../postgres/transaction.ts'
import { pause } from '../../time.ts'
import {
  COLUMNS,
  DEAD_LETTER_INDEXES,
  indexName,
  INDEXES,
  INDEXES_OF_PG_BOSS,
  SHARED_TABLE,
  STATES,
} from './contract.ts'

export const JOBS_SCHEMA = 'svc_jobs'

const PG_BOSS = createRequire(import.meta.url)('pg-boss/package.json') as {
  version: string
  pgboss: { schema: number }
}

export const SCHEMA_VERSION = PG_BOSS.pgboss.schema

/** Returns the version of its tables. @throws SchemaMissing */
export async function assertBossIsMade(db: Db): Promise<number> {
  const { rows } = (await isBossInstalled(db))
    ? await db.query('select version from svc_jobs.version')
    : { rows: [] }
  const version = Number((rows[0] as { version: number } | undefined)?.version ?? 0)
  const isMade = version >= SCHEMA_VERSION
  assertNoMissingSchema(
    isMade
      ? await missingTables(db)
      : [`the schema ${await schemaName(db)} in version ${SCHEMA_VERSION}`],
    'pg-boss',
  )
  return version
}

/** As the host has it. */
async function schemaName(db: Db): Promise<string> {
  const { rows } = await db.query(`select 'svc_jobs' as name`)
  return rows[0].name
}

async function missingTables(db: Db): Promise<string[]> {
  const { rows } = await db.query(
    `select 'the table ' || name as missing
       from unnest(array['svc_jobs.job', 'svc_jobs.queue']) as name
      where to_regclass(name) is null`,
  )
  return rows.map(({ missing }: { missing: string }) => missing)
}

/** Whether pg-boss's schema exists. pg-boss's own lock guards the changes of later versions. */
export async function isBossInstalled(db: Db): Promise<boolean> {
  const { rows } = await db.query(`select to_regclass('svc_jobs.version') is not null as yes`)
  return rows[0].yes
}

interface Tables {
  /** Their type, their default, and whether an insert must give a value. */
  columns: [
    table: string,
    name: string,
    type: string,
    byDefault: string | null,
    isNeeded: boolean,
  ][]
  states: string[]
  /** Of each table of jobs; without an index it has one entry. */
  indexes: [table: string, name: string | null, definition: string | null, isValid: boolean][]
}

/** The tables of a host's own queues are left out. */
const READ_TABLES = `
  select json_build_object(
    'columns', array(
      select json_build_array(relname, attname, typname, pg_get_expr(adbin, adrelid),
                              attnotnull and not atthasdef and attidentity = '')
        from pg_attribute
        join pg_class on pg_class.oid = attrelid
        join pg_type on pg_type.oid = atttypid
        left join pg_attrdef on adrelid = attrelid and adnum = attnum
       where attrelid in (to_regclass('svc_jobs.job'), to_regclass('svc_jobs.queue'),
                          to_regclass('svc_jobs.version'))
         and attnum > 0 and not attisdropped),
    'states', array(
      select enumlabel from pg_enum
       where enumtypid = to_regtype('svc_jobs.job_state') order by enumsortorder),
    'indexes', array(
      select json_build_array(jobs.relname, index.relname, pg_get_indexdef(index.oid),
                              indisvalid and indisready)
        from pg_inherits
        join pg_class as jobs on jobs.oid = inhrelid
       cross join pg_get_expr(jobs.relpartbound, jobs.oid) as bound
        left join pg_index on indrelid = jobs.oid
        left join pg_class as index on index.oid = indexrelid
       where inhparent = to_regclass('svc_jobs.job')
         and (bound = 'DEFAULT' or starts_with(bound, 'FOR VALUES IN (''__svc.'))))::text as tables`

/** Of Postgres where an index is replaced while its definition is read, as by another process that boots. */
const INTERNAL_ERROR = 'XX000'
const PAUSES_MS = [20, 50, 100, 200, 500]

async function readTables(db: Db): Promise<Tables> {
  for (let failures = 0; ; failures++) {
    try {
      const { rows } = await db.query(READ_TABLES)
      return JSON.parse(rows[0].tables) as Tables
    } catch (error) {
      const pauseMs = PAUSES_MS[failures]
      if (pauseMs === undefined || (error as { code?: unknown }).code !== INTERNAL_ERROR)
        throw error
      await pause(pauseMs)
    }
  }
}

/**
 * Compares what our statements need with the database. The tables of a later version of pg-boss, which
 * another host has made, may have more.
 *
 * @throws JobsSchemaDiffers
 */
export async function assertTablesAreAsNeeded(db: Db): Promise<void> {
  const { columns, states, indexes } = await readTables(db)
  const different = [...differentColumns(columns), ...differentStates(states)]
  // A definition names columns: where those differ, that of each index does.
  const differences = different.length > 0 ? different : differentIndexes(indexes)
  if (differences.length === 0) return
  const message = `svcCore: the tables of jobs differ from those of pg-boss ${PG_BOSS.version}, for which its statements are written: ${differences.join('; ')}. Run the statements that stand here, undo what else was changed, or restore the schema ${JOBS_SCHEMA} from a backup. If another version of pg-boss has changed it, deploy the version of @svc/core that has that one`
  throw new JobsSchemaDiffers(message.replaceAll(JOBS_SCHEMA, await schemaName(db)))
}

function differentColumns(found: Tables['columns']): string[] {
  return Object.entries(COLUMNS).flatMap(([name, needed]) => {
    const table = `${JOBS_SCHEMA}.${name}`
    const its = new Map(found.filter(([of]) => of === name).map((column) => [column[1], column]))
    if (its.size === 0) return [`there is no table ${table}`]
    const wrong = Object.entries(needed).flatMap(([column, [type, ours, byDefault]]) => {
      const [, , itsType, itsDefault] = its.get(column) ?? []
      if (itsType === undefined) return [`${table} has no column "${column}" (${ours})`]
      if (itsType !== type)
        return [`the column "${column}" of ${table} is ${itsType} and not ${type}`]
      if (byDefault === undefined || byDefault === itsDefault) return []
      return [
        `the column "${column}" of ${table} has ${itsDefault === null ? 'no default' : `the default ${itsDefault}`} and not ${byDefault}`,
      ]
    })
    const inserted = name === 'job' ? [...its.values()] : []
    const unknown = inserted.filter(([, column, , , isNeeded]) => isNeeded && !(column in needed))
    return [
      ...wrong,
      ...unknown.map(
        ([, column]) => `the column "${column}" of ${table} needs a value, and inserts have none`,
      ),
    ]
  })
}

const differentStates = (found: string[]): string[] =>
  STATES.every((state, place) => state === found[place])
    ? []
    : [`the states are ${found.join(', ')}, and not ${STATES.join(', ')}`]

function differentIndexes(found: Tables['indexes']): string[] {
  const byTable = Map.groupBy(found, ([table]) => table)
  return [...byTable].flatMap(([name, all]) => {
    const table = `${JOBS_SCHEMA}.${name}`
    const valid = new Set(all.filter((index) => index[3]).map((index) => comparable(index[2])))
    const missing = INDEXES_OF_PG_BOSS.filter((needed) => !valid.has(comparable(needed)))
    return [
      ...missing.map((needed) => `${table} has no index ${needed}: ${creationOf(needed, table)}`),
      ...Object.entries(ownIndexesOf(name)).flatMap(([index, needed]) => {
        const [, , definition, isValid] = all.find(([, its]) => its === index) ?? []
        // The next step of the boot makes it, or says that it is missing.
        if (definition === undefined) return []
        const remedy = `drop index ${JOBS_SCHEMA}.${index}, which the next boot makes again`
        if (!isValid) return [`the index ${JOBS_SCHEMA}.${index} is not valid: ${remedy}`]
        if (comparable(definition) === comparable(needed)) return []
        return [
          `the index ${JOBS_SCHEMA}.${index} is ${comparable(definition)} and not ${needed}: ${remedy}`,
        ]
      }),
    ]
  })
}

const ownIndexesOf = (table: string): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(INDEXES).map(([prefix, definition]) => [indexName(prefix, table), definition]),
  ),
  ...(table === SHARED_TABLE ? DEAD_LETTER_INDEXES : {}),
})

const creationOf = (definition: string, table: string): string =>
  definition.startsWith('UNIQUE ')
    ? `create unique index on ${table} ${definition.slice('UNIQUE '.length)}`
    : `create index on ${table} ${definition}`

/**
 * A definition without what may differ: the names of the index and the table, parameters of its storage,
 * and the schema of a type, which Postgres leaves out if it is in the `search_path`.
 */
const comparable = (definition: string | null): string =>
  (definition ?? '')
    .replace(/^CREATE (UNIQUE )?INDEX .+? ON .+? (?=USING )/, '$1')
    .replace(/ WITH \([^)]*\)/, '')
    .replaceAll(/::(?:"[^"]+"|\w+)\.job_state\b/g, '::job_state')
