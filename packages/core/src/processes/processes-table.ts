/**
 * The table of processes: which are alive, and what each declares. Its times are those of Postgres.
 */
import type { Db } from '../postgres/transaction.ts'
import { lockKeyOf } from './process-lock.ts'

export interface Declared {
  /** The events of each subscription. */
  events: Record<string, string[]>
  /** Settings in days of which the longest holds, by their names. */
  days: Record<string, number>
  /** What `npx svc doctor` shows of a process. Those of earlier versions do not say it. */
  about?: ProcessFacts
  /** The periodic tasks whose last runs have failed, as {@link renewProcess} has written them last. */
  failing?: FailedTask[]
}

export interface ProcessFacts {
  /** Of core. */
  version: string
  /** Of Node. */
  node: string
  /** Whether it runs jobs. */
  works: boolean
  /** By the plugin: options that all processes should have alike. */
  options: Record<string, Record<string, unknown>>
}

/** Of a periodic task that fails: how often in a row, since when (ISO 8601), and the last error. */
export interface FailedTask {
  name: string
  failures: number
  since: string
  error: string
}

/** For so long after its last renewal a process counts as running, and so do its claims of jobs. */
export const LEASE_SECONDS = 20
/** How long the rows of ended processes are kept, for {@link longestDays}. */
const ENDED_KEPT_SECONDS = 2 * 24 * 3600

/**
 * When the lease of `process` ends. No process can renew while the server is down, so every lease
 * is renewed by a start of the server.
 */
const LEASE_ENDS = `greatest(process.renewed_at, pg_postmaster_start_time())
  + make_interval(secs => ${LEASE_SECONDS})`

/** Whether `process` is alive. It still counts as alive for some seconds after an orderly close. */
const isAlive = (closedWithin: string): string =>
  `case when process.closed_at is null then ${LEASE_ENDS} > now()
        else process.closed_at > now() - make_interval(secs => ${closedWithin}) end`

/**
 * A condition for `svc."__svc.subscriptions" as wants`: a process that is alive, or closed within
 * so many seconds (a parameter), declares the event for this subscription.
 */
export const declaredByAlive = (closedWithin: string): string => `exists (
  select from svc."__svc.processes" as process
   where process.declares -> 'events' -> wants.subscription ? wants.event_name
     and ${isAlive(closedWithin)})`

/** Writes the row of a process: a new lease. */
export async function putProcess(
  db: Db,
  id: string,
  declares: Declared,
  isLocked = false,
): Promise<void> {
  await db.query(
    `insert into svc."__svc.processes" (id, declares, is_locked) values ($1, $2, $3)
     on conflict (id) do update
       set renewed_at = now(), closed_at = null, declares = excluded.declares,
           is_locked = excluded.is_locked`,
    [id, JSON.stringify(declares), isLocked],
  )
}

export interface Renewal {
  isLocked: boolean
  failing: readonly FailedTask[]
  /** In these, events are looked for that no process declares. */
  subscriptions: string[]
  closedWithinSeconds: number
}

/**
 * Renews a lease that has not lapsed. Returns whether there is any event that no process declares,
 * or `undefined` where the lease had lapsed.
 */
export async function renewProcess(
  db: Db,
  id: string,
  { isLocked, failing, subscriptions, closedWithinSeconds }: Renewal,
): Promise<boolean | undefined> {
  const { rows } = await db.query(
    `update svc."__svc.processes" as process
        set renewed_at = now(), is_locked = $2,
            -- Where nothing has changed it is not written again: it may be large.
            declares = case when $5::text <> '[]'
                              then declares || jsonb_build_object('failing', $5::text::jsonb)
                            when declares ? 'failing' then declares - 'failing'
                            else declares end
      where id = $1 and closed_at is null and ${LEASE_ENDS} > now()
     returning exists (
       select from svc."__svc.subscriptions" as wants
        where wants.subscription = any($3::text[]) and not ${declaredByAlive('$4')}) as "isAnyUndeclared"`,
    [id, isLocked, subscriptions, closedWithinSeconds, JSON.stringify(failing)],
  )
  return rows[0]?.isAnyUndeclared
}

/** Whether a session holds the lock of `process`. */
const HOLDS_LOCK = `exists (
  select from pg_locks
   where locktype = 'advisory' and objsubid = 1
     and (classid::bigint << 32) | objid::bigint = ${lockKeyOf('process.id::text')}
     and database = (select oid from pg_database where datname = current_database()))`

/** A process whose row has its lock as held. */
interface LockedProcess {
  id: string
  /** No session holds the lock. Never directly after a start of the server, while all boot or reconnect. */
  isUnlocked: boolean
}

/** The other processes whose row has their lock as held. */
export async function findLockedProcesses(db: Db, ownId: string): Promise<LockedProcess[]> {
  const { rows } = await db.query(
    `select process.id, pg_postmaster_start_time() < now() - interval '5 seconds'
                          and not ${HOLDS_LOCK} as "isUnlocked"
       from svc."__svc.processes" as process
      where process.is_locked and process.closed_at is null and process.id <> $1`,
    [ownId],
  )
  return rows
}

/** After this time a process that holds its lock but renews nothing counts as dead. */
const LONGEST_SILENT_SECONDS = 600

/**
 * Whether `process` runs: its lease has not ended, or it holds its lock and could not renew the lease, as
 * where code of the host blocks the event loop.
 */
export const RUNS = `process.closed_at is null and (${LEASE_ENDS} > now()
  or process.is_locked and ${HOLDS_LOCK}
     and process.renewed_at > now() - make_interval(secs => ${LONGEST_SILENT_SECONDS}))`

export interface LiveProcess {
  id: string
  /** Since when it runs, in seconds. */
  seconds: number
  /** For how long its lease has ended: it holds its lock, and its event loop or the process itself stands still. */
  silentSeconds: number
  declares: Declared
}

export async function findLiveProcesses(db: Db): Promise<LiveProcess[]> {
  const { rows } = await db.query(
    `select process.id, extract(epoch from now() - process.started_at)::int as seconds,
            greatest(extract(epoch from now() - (${LEASE_ENDS})), 0)::int as "silentSeconds",
            process.declares::text as declares
       from svc."__svc.processes" as process where ${RUNS} order by process.started_at, process.id`,
  )
  return (rows as (Omit<LiveProcess, 'declares'> & { declares: string })[]).map((row) => ({
    ...row,
    declares: JSON.parse(row.declares) as Declared,
  }))
}

/**
 * Its lock is not checked again where all jobs of a process that died were taken back. Others have workers for
 * the rest: they find them by the lock, or once the lease has ended.
 */
export async function markUnlocked(db: Db, id: string, areAllBack: boolean): Promise<void> {
  await db.query(
    `update svc."__svc.processes" as process set is_locked = false
      where id = $1 and ($2 or ${LEASE_ENDS} < now())`,
    [id, areAllBack],
  )
}

export async function closeProcess(db: Db, id: string): Promise<void> {
  await db.query(
    `update svc."__svc.processes" set closed_at = now() where id = $1 and closed_at is null`,
    [id],
  )
}

/** Deletes the rows of processes that ended days ago. */
export async function sweepProcesses(db: Db): Promise<void> {
  await db.query(
    `delete from svc."__svc.processes"
      where greatest(renewed_at, closed_at) < now() - make_interval(secs => $1)`,
    [ENDED_KEPT_SECONDS],
  )
}

/**
 * The longest that any process declares for a setting in days; 0 where none does. It counts
 * processes that are alive, or that renewed their lease within `endedWithinSeconds` (at most two
 * days).
 */
export async function longestDays(
  db: Db,
  setting: string,
  endedWithinSeconds = 0,
): Promise<number> {
  const { rows } = await db.query(
    `select coalesce(max((process.declares -> 'days' ->> $1::text)::int), 0) as days
       from svc."__svc.processes" as process
      where ${isAlive('$2')}
         or process.renewed_at > now() - make_interval(secs => $2)`,
    [setting, endedWithinSeconds],
  )
  return rows[0].days
}
