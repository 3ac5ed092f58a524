/** What a role lacks, in a sentence that names the right. */
import { DatabaseUnreachable, RightsMissing } from '../errors.ts'
import { isAway } from '../postgres/connection-errors.ts'
import type { Db } from '../postgres/transaction.ts'

const TABLE_RIGHTS = ['select', 'insert', 'update', 'delete']

interface Facts {
  role: string
  database: string
  mayCreateSchemas: boolean
  schemas: SchemaFacts[]
}

interface SchemaFacts {
  name: string
  exists: boolean
  usage: boolean | null
  create: boolean | null
  /** The tables that the role lacks rights on, with those that it lacks. */
  tables: { name: string; lacks: string[] }[]
  /** The tables that belong to a role whose member this one is not. */
  foreign: string[]
}

/**
 * Runs a step of the boot. Where Postgres denies it a right, the error names it; where Postgres goes away, or
 * only reads from then on, the error says to boot again.
 *
 * @throws RightsMissing, DatabaseUnreachable
 */
export async function explainingRights<T>(db: Db, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (isAway(error)) {
      throw Object.assign(
        new DatabaseUnreachable(
          `svcCore: Postgres was lost on the way (${(error as Error).message}): boot again when it takes writes`,
        ),
        { cause: error },
      )
    }
    if ((error as { code?: unknown } | null)?.code !== '42501') throw error
    const facts = await factsOf(db).catch(() => undefined)
    throw Object.assign(new RightsMissing(whatIsMissing((error as Error).message, facts)), {
      cause: error,
    })
  }
}

/** Rights to make and change tables are named where a schema is to be made, or nothing else is missing. */
export function whatIsMissing(message: string, facts: Facts | undefined): string {
  if (!facts) return `svcCore: Postgres denies what the boot needs (${message})`
  const { role, database, mayCreateSchemas, schemas } = facts
  const forRows = rightsOnRows(schemas)
  const forTables = schemas.flatMap(({ name, exists, create, foreign }) => [
    ...(exists || mayCreateSchemas
      ? []
      : [`create on the database "${database}" (to make the schema "${name}")`]),
    ...(exists && !create ? [`create on the schema "${name}"`] : []),
    ...(foreign.length > 0 ? [`ownership of ${some(foreign)} in the schema "${name}"`] : []),
  ])
  const isNew = schemas.some(({ exists }) => !exists)
  const wanted = isNew || forRows.length === 0 ? [...forRows, ...forTables] : forRows
  const grantee = `"${role}"`
  if (wanted.length === 0) {
    return `svcCore: Postgres denies the role ${grantee} what the boot needs (${message})`
  }
  // Another role that boots makes tables. It gives this one no right to their rows.
  const remedy = wanted === forRows ? 'grant it' : 'grant it, or boot once as a role that has it'
  return `svcCore: the role ${grantee} lacks ${wanted.join(', ')} (${message}): ${remedy}`
}

/** What the role of `db` lacks of the rights of hosts that make no tables; none where it lacks nothing. */
export async function lackedRights(db: Db): Promise<string[]> {
  const { schemas } = await factsOf(db)
  return rightsOnRows(schemas)
}

const rightsOnRows = (schemas: SchemaFacts[]): string[] =>
  schemas.flatMap(({ name, exists, usage, tables }) => [
    ...(exists && !usage ? [`usage on the schema "${name}"`] : []),
    ...describeTables(name, tables),
  ])

function describeTables(schema: string, tables: SchemaFacts['tables']): string[] {
  const byRights = Map.groupBy(tables, ({ lacks }) => lacks.join(', '))
  return [...byRights].map(
    ([rights, group]) =>
      `${rights} on ${some(group.map(({ name }) => name))} in the schema "${schema}"`,
  )
}

const MOST_NAMED = 3

function some(names: string[]): string {
  const named = names.slice(0, MOST_NAMED).map((name) => `"${name}"`)
  const others = names.length - named.length
  return others > 0 ? `${named.join(', ')} and ${others} more tables` : named.join(', ')
}

async function factsOf(db: Db): Promise<Facts> {
  const { rows } = await db.query(
    `select current_user as role, current_database() as database,
            has_database_privilege(current_database(), 'create') as "mayCreateSchemas",
            array['svc', 'svc_jobs'] as names`,
  )
  const { names, ...facts } = rows[0] as Omit<Facts, 'schemas'> & { names: string[] }
  const schemas = []
  for (const name of names) schemas.push(await schemaFactsOf(db, name))
  return { ...facts, schemas }
}

async function schemaFactsOf(db: Db, name: string): Promise<SchemaFacts> {
  const { rows } = await db.query(
    `select oid is not null as exists, has_schema_privilege(oid, 'usage') as usage,
            has_schema_privilege(oid, 'create') as create
       from (select (select oid from pg_namespace where nspname = $1) as oid) as schema`,
    [name],
  )
  // A partition is reached through its parent, except those of pg-boss, which it addresses by name.
  const { rows: tables } = await db.query(
    `select class.relname as name,
            array(select wanted from unnest($2::text[]) as wanted
                   where not has_table_privilege(class.oid, wanted)) as lacks,
            not pg_has_role(class.relowner, 'usage') as "isForeign"
       from pg_class as class
       join pg_namespace as schema on schema.oid = class.relnamespace
      where schema.nspname = $1 and class.relkind in ('r', 'p')
        and (not class.relispartition or $1 = 'svc_jobs')
      order by class.relname`,
    [name, TABLE_RIGHTS],
  )
  type Table = SchemaFacts['tables'][number] & { isForeign: boolean }
  return {
    name,
    ...rows[0],
    tables: (tables as Table[]).filter(({ lacks }) => lacks.length > 0),
    foreign: (tables as Table[]).filter(({ isForeign }) => isForeign).map((table) => table.name),
  }
}
