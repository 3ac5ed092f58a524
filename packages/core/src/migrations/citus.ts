/**
 * Citus: our tables stay on the coordinator, tables of the host may be on workers.
 *
 * A transaction that has changed rows on one worker alone is committed there before it is committed on the
 * coordinator, unless Citus knows of a change on the coordinator too. It knows nothing of local tables: rows
 * of the host could stay where a crash has taken our event. So our tables have triggers there which touch a
 * table that Citus knows, and Citus prepares the transaction on the worker before it commits it.
 */
import { CitusUnusable } from '../errors.ts'
import type { StatementPool } from '../postgres/schema-names.ts'
import { transaction, type Db } from '../postgres/transaction.ts'
import { GIVE_UP_MS, untilLocked, withMigrationLock, type Boot } from './migration-lock.ts'
import { handOver } from './migrations-table.ts'
import { assertNoMissingSchema } from './missing-schema.ts'

export interface CitusBoot extends Boot {
  pool: StatementPool
  /** The version of the extension; null where the database does not have it. */
  citus: string | null
  isCheck?: boolean
}

/** As an expression, so that a statement of the boot can ask for it too. */
export const CITUS_VERSION = `(select extversion from pg_extension where extname = 'citus')`

export async function findCitus(db: Db): Promise<string | null> {
  const { rows } = await db.query(`select ${CITUS_VERSION} as version`)
  return rows[0].version
}

/** Older ones have no catalog of distributed schemas, and none was tried. */
const OLDEST = 12

interface Place {
  isWorker: boolean
  knowsCoordinator: boolean
  /** Schemas of ours that Citus would place on a worker when they are made. */
  distributesNew: string[]
  distributed: string[]
  tables: { name: string; kind: string }[]
}

/**
 * Where this role is connected to, and what Citus has of ours.
 *
 * @throws CitusUnusable with what to change
 */
export async function assertCitusUsable(db: Db, version: string): Promise<void> {
  if (Number.parseInt(version) < OLDEST) {
    refuse(`needs Citus ${OLDEST} or newer, this database has ${version}`, 'update the extension')
  }
  const { rows } = await db.query(FIND_PLACE)
  const { isWorker, knowsCoordinator, distributesNew, distributed, tables } = JSON.parse(
    rows[0].place,
  ) as Place
  if (isWorker) {
    refuse(
      'keeps its tables on the coordinator of a Citus cluster, and this connection leads to a worker',
      'point the option "database" at the coordinator',
    )
  }
  if (!knowsCoordinator) {
    refuse(
      'needs a coordinator that is in the metadata of Citus, and this one is not',
      `run "select citus_set_coordinator_host('<its host name>', <its port>)" there, and boot again`,
    )
  }
  const schema = distributed[0]
  if (schema !== undefined) {
    refuse(
      `keeps its tables on the coordinator, and Citus has distributed the schema ${schema}`,
      `run "select citus_schema_undistribute('${schema}')", and boot again`,
    )
  }
  const made = distributesNew[0]
  if (made !== undefined) {
    refuse(
      `keeps its tables on the coordinator, and Citus would distribute the schema ${made}, since citus.enable_schema_based_sharding is on`,
      `turn it off for this role ("alter role … set citus.enable_schema_based_sharding = off"), and boot again`,
    )
  }
  const table = tables[0]
  if (table !== undefined) {
    refuse(
      `keeps its tables on the coordinator, and ${table.name} is a ${table.kind} table of Citus`,
      `run "select undistribute_table('${table.name}')", and boot again`,
    )
  }
}

function refuse(what: string, remedy: string): never {
  throw new CitusUnusable(`svcCore ${what}: ${remedy}`)
}

/** A schema that is distributed has its row even where it has no table. */
const FIND_PLACE = `
  select json_build_object(
    'isWorker', (select groupid <> 0 from pg_dist_local_group),
    'knowsCoordinator', exists (select from pg_dist_node where groupid = 0),
    'distributed', array(
      select quote_ident(nspname) from pg_dist_schema join pg_namespace on pg_namespace.oid = schemaid
       where nspname in ('svc', 'svc_jobs') order by nspname),
    'distributesNew', array(
      select quote_ident(name) from unnest(array['svc', 'svc_jobs']) as name
       where current_setting('citus.enable_schema_based_sharding')::boolean
         and to_regnamespace(quote_ident(name)) is null),
    'tables', array(
      select json_build_object(
               'name', format('%I.%I', nspname, relname),
               'kind', case when partmethod <> 'n' then 'distributed' when repmodel = 't' then 'reference'
                            else 'managed local' end)
        from pg_dist_partition
        join pg_class on pg_class.oid = logicalrelid
        join pg_namespace on pg_namespace.oid = relnamespace
       where nspname in ('svc', 'svc_jobs') and not relispartition
         and relname <> '__svc.known_to_citus'
       order by nspname, relname))::text as place`

/**
 * Makes what lets Citus know of our changes where a part is missing: new tables come with each migration.
 *
 * @throws SchemaMissing where nothing is to be made
 */
export async function letCitusKnow(boot: CitusBoot, owner: string): Promise<void> {
  if (boot.citus === null) return
  const isComplete = async () => {
    const missing = await transaction(boot.pool, findUnknown)
    if (boot.isCheck && missing.length > 0) {
      assertNoMissingSchema(
        [`triggers for Citus on ${missing.map(({ name }) => name).join(', ')}`],
        owner,
      )
    }
    return missing.length === 0
  }
  if (await isComplete()) return
  await withMigrationLock(boot, async (lockDb) => {
    const deadline = performance.now() + (boot.giveUpMs ?? GIVE_UP_MS)
    await untilLocked(
      async (lockMs) => {
        if (await isComplete()) return
        await transaction(boot.pool, make, { timeoutMs: LONGEST_MS, lockMs })
      },
      (conflict) => {
        if (performance.now() > deadline) throw conflict
      },
      boot.signal,
    )
    await handOver(lockDb)
  })
}

/** Citus connects to each worker. */
const LONGEST_MS = 120_000

interface Unknown {
  name: string
  /** Statements name the partitions of pg-boss's jobs, and only triggers for rows are inherited. */
  forRows: boolean
}

/** Our tables whose changes Citus does not learn of. */
async function findUnknown(db: Db): Promise<Unknown[]> {
  const { rows } = await db.query(
    `select format('%I.%I', nspname, relname) as name, nspname = 'svc_jobs' and relkind = 'p' as "forRows"
       from pg_class
       join pg_namespace on pg_namespace.oid = relnamespace
      where nspname in ('svc', 'svc_jobs') and relkind in ('r', 'p') and not relispartition
        and relname <> '__svc.known_to_citus'
        and (not exists (select from pg_trigger where tgrelid = pg_class.oid and tgname = 'let_citus_know')
             -- A dump has the table as one that Citus does not know.
             or not exists (select from pg_dist_partition
                             where logicalrelid = to_regclass('svc."__svc.known_to_citus"')))
      order by nspname, relname`,
  )
  return rows
}

async function make(db: Db): Promise<void> {
  await db.query(
    'create table if not exists svc."__svc.known_to_citus" (nothing boolean primary key)',
  )
  const { rows } = await db.query(
    `select exists (select from pg_dist_partition
                     where logicalrelid = 'svc."__svc.known_to_citus"'::regclass) as yes`,
  )
  if (!rows[0].yes) {
    await db.query(`select citus_add_local_table_to_metadata('svc."__svc.known_to_citus"')`)
  }
  await db.query('set local citus.enable_ddl_propagation to off')
  await db.query(TOUCH)
  for (const { name, forRows } of await findUnknown(db)) {
    await db.query(
      `create trigger let_citus_know ${forRows ? 'after' : 'before'} insert or update or delete on ${name}
         for each ${forRows ? 'row' : 'statement'}
         when (current_setting('svc' || '.known_to_citus', true) is distinct from pg_current_xact_id()::text)
         execute function svc."__svc.let_citus_know"()`,
    )
    // Also in a session that acts as a replica.
    await db.query(`alter table ${name} enable always trigger let_citus_know`)
  }
}

/**
 * Deletes nothing: that is enough for Citus, once in a transaction. With the rights of the owner, since roles
 * of hosts may lack those on a table that is made later.
 */
const TOUCH = `
  create or replace function svc."__svc.let_citus_know"() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  as $$
  begin
    delete from svc."__svc.known_to_citus" where false;
    perform set_config('svc' || '.known_to_citus', pg_current_xact_id()::text, true);
    return null;
  end
  $$`
