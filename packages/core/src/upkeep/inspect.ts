/** What a database says of its server and of the hosts on it. It only reads, and boots nothing. */
import { pausedOf, type Paused } from '../health/health.ts'
import { listPauses } from '../jobs/pauses-table.ts'
import { countQueues, type QueueCount } from '../jobs/pg-boss/queue-counts-table.ts'
import { countDeadOfDay, findStuckJobs, type StuckJobs } from '../jobs/pg-boss/stuck-jobs.ts'
import { CITUS_VERSION } from '../migrations/citus.ts'
import { findLastMigrations } from '../migrations/migrations-table.ts'
import { lackedRights } from '../migrations/missing-rights.ts'
import { LONG_STATEMENT_MS, type Database } from '../postgres/pools.ts'
import type { Db } from '../postgres/transaction.ts'
import { BEGIN_WITH_WORKER_PLANS } from '../postgres/worker-pool.ts'
import { findLiveProcesses, type LiveProcess } from '../processes/processes-table.ts'
import { installedPackages, type FailingWebhooks } from './installed-packages.ts'

export interface ServerFacts {
  version: string
  /** The version of Citus; null without it. */
  citus: string | null
  /** Of the settings that matter, as this role has them in this database. */
  settings: Record<string, string>
  /** Clients of the server, and how many it takes. */
  connections: { open: number; most: number }
  /** How far the clock of this machine is ahead of that of the server. Negative: behind. */
  clockAheadMs: number
  /** Whether there is a pooler in between that gives each transaction another session. */
  pooler: boolean
  /** A standby, or a session that may not write. */
  isReadOnly: boolean
  /** The bytes of our tables with their indexes. */
  bytes: number
}

const SETTINGS = [
  'autovacuum',
  'default_transaction_isolation',
  'fsync',
  'full_page_writes',
  'idle_in_transaction_session_timeout',
  'lock_timeout',
  'max_connections',
  'statement_timeout',
  'synchronous_commit',
]

export async function inspectServer({ db, pooled }: Database): Promise<ServerFacts> {
  const beganMs = Date.now()
  const { rows } = await db.query(
    `select current_setting('server_version') as version, ${CITUS_VERSION} as citus,
            extract(epoch from clock_timestamp())::float8 * 1000 as "clockMs"`,
  )
  // The answer may have been on its way for long: half of that is the best guess.
  const middleMs = (beganMs + Date.now()) / 2
  const { version, citus, clockMs } = rows[0] as Pick<ServerFacts, 'version' | 'citus'> & {
    clockMs: number
  }
  const { rows: facts } = await db.query(
    `select json_object_agg(name, setting)::text as settings,
            current_setting('transaction_read_only') = 'on' as "isReadOnly",
            (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as open,
            current_setting('max_connections')::int as most,
            (select coalesce(sum(pg_total_relation_size(oid)), 0)::float8 from pg_class
              where relkind in ('r', 'm') and relnamespace in (
                select oid from pg_namespace where nspname in ('svc', 'svc_jobs'))) as bytes
       from pg_settings where name = any($1::text[])`,
    [SETTINGS],
  )
  type Facts = { settings: string; open: number; most: number } & Pick<
    ServerFacts,
    'isReadOnly' | 'bytes'
  >
  const { settings, open, most, isReadOnly, bytes } = facts[0] as Facts
  return {
    version,
    citus,
    settings: JSON.parse(settings) as Record<string, string>,
    connections: { open, most },
    clockAheadMs: Math.round(middleMs - clockMs),
    pooler: pooled,
    isReadOnly,
    bytes,
  }
}

/** The last migration of each package, by its name. The tables of core must exist. */
export const inspectMigrations = ({ db }: Database): Promise<Record<string, string>> =>
  findLastMigrations(db)

/** Of the rights of hosts, what the role lacks. */
export const inspectRights = ({ db }: Database): Promise<string[]> => lackedRights(db)

export interface HostFacts {
  processes: LiveProcess[]
  queues: QueueCount[]
  paused: Paused[]
  /** The first hundred of them. `null`: `@svc/webhooks` is not installed here. */
  failingWebhooks: FailingWebhooks | null
}

const COUNT_TIMEOUT_MS = 15_000

/** The tables of core must exist. */
export async function inspectHosts({ db, readers }: Database): Promise<HostFacts> {
  return {
    processes: await findLiveProcesses(db),
    queues: await readers.transaction((within) => countQueues(within, []), {
      begin: BEGIN_WITH_WORKER_PLANS,
      timeoutMs: COUNT_TIMEOUT_MS,
    }),
    paused: pausedOf(await listPauses(db)),
    failingWebhooks: await failingWebhooksOf(db),
  }
}

const MOST_NAMED = 100

/** As the package that has them finds them; `null` where it is not installed. */
async function failingWebhooksOf(db: Db): Promise<HostFacts['failingWebhooks']> {
  for (const { findFailingWebhooks } of await installedPackages()) {
    if (findFailingWebhooks) return findFailingWebhooks(db, MOST_NAMED)
  }
  return null
}

/** Reads all jobs. */
export async function inspectStuck(database: Database): Promise<{
  jobs: StuckJobs[]
  /** Recoveries, redrives and deletions that have gone on for an hour without a portion. */
  work: { id: string; queue: string; seconds: number }[]
  /** Dead letters of the last day, by their queue. A webhook where the queue is that of deliveries. */
  deadOfDay: { queue: string; recipient: string | null; letters: number }[]
}> {
  const db = database.db.within(LONG_STATEMENT_MS)
  const { rows } = await db.query(
    `select id, queue, extract(epoch from now() - next_at)::int as seconds
       from svc."__svc.work"
      where finished_at is null and next_at < now() - interval '1 hour' order by next_at`,
  )
  return {
    jobs: await findStuckJobs(db),
    work: rows as never,
    deadOfDay: await countDeadOfDay(db),
  }
}

/** What hosts have told the database of their options, so that a process that boots for a moment, such as a command, declares what the hosts have declared. */
export interface DeclaredOptions {
  /** `svcCore({ application })`; `null` where no host has a name. */
  application: string | null
  /** `svcWebhooks({ allowedEvents })`, of all hosts. */
  allowedEvents: string[]
  /** The longest of each setting in days, such as `eventRetentionDays`. */
  days: Record<string, number>
}

/** The tables of core must exist. */
export async function declaredOptions(db: Db): Promise<DeclaredOptions> {
  const { rows } = await db.query(
    `select (select name from svc."__svc.applications" order by since limit 1) as application,
            array(select event_name from svc."__svc.subscriptions"
                   where subscription = '__svc.webhooks' and not starts_with(event_name, 'svc.')
                   order by event_name) as "allowedEvents",
            coalesce((
              select json_object_agg(name, longest)
                from (select setting.key as name, max(setting.value::int) as longest
                        from svc."__svc.processes" as process,
                             jsonb_each_text(process.declares -> 'days') as setting
                       group by 1) as settings), '{}') as days`,
  )
  return rows[0] as DeclaredOptions
}
