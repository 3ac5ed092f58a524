/** Which sessions keep another waiting, in words for a log and an error. */
import { ADVISORY_LOCKS } from '../postgres/advisory-locks.ts'
import type { Db } from '../postgres/transaction.ts'

export interface Blocker {
  pid: number
  user: string | null
  application: string | null
  state: string | null
  /** How long its transaction has been open; null where this role may not see it. */
  seconds: number | null
}

export interface Blocked {
  /** The table that is waited for; null where the lock is of another kind. */
  table: string | null
  blockers: Blocker[]
}

const BLOCKER = `activity.pid, activity.usename as user, activity.application_name as application,
  activity.state,
  extract(epoch from clock_timestamp() - activity.xact_start)::int as seconds`

/** What the session `pid` waits for at this moment, and who holds it; on another connection. */
export async function findBlocked(db: Db, pid: number): Promise<Blocked | undefined> {
  // All reads of pg_stat_activity within a transaction see what the first one saw.
  await db.query('select pg_stat_clear_snapshot()')
  const { rows } = await db.query(
    `select ${BLOCKER},
            (select relation::regclass::text from pg_locks
              where pid = $1 and not granted and relation is not null limit 1) as table
       from unnest(pg_blocking_pids($1)) as blocker (pid)
       join pg_stat_activity as activity on activity.pid = blocker.pid`,
    [pid],
  )
  if (rows.length === 0) return undefined
  return { table: rows[0].table, blockers: rows.map(asBlocker) }
}

/** The session that holds the lock of migrations. */
export async function findLockHolder(db: Db): Promise<Blocker | undefined> {
  await db.query('select pg_stat_clear_snapshot()')
  const { rows } = await db.query(
    `select ${BLOCKER}
       from pg_locks as held
       join pg_stat_activity as activity on activity.pid = held.pid
      where held.locktype = 'advisory' and held.granted and held.classid = 0
        and held.objid = ${ADVISORY_LOCKS.migrations}
        and held.database = (select oid from pg_database where datname = current_database())`,
  )
  return rows[0] && asBlocker(rows[0])
}

const asBlocker = ({ pid, user, application, state, seconds }: Blocker): Blocker => ({
  pid,
  user,
  application,
  state,
  seconds,
})

/** `session 4711 of "app" (psql, idle in transaction), whose transaction is open for 61 seconds` */
export function describeBlocker({ pid, user, application, state, seconds }: Blocker): string {
  const of = user ? ` of "${user}"` : ''
  const about = [application, state].filter(Boolean).join(', ')
  const age = seconds === null ? '' : `, whose transaction is open for ${seconds} seconds`
  return `session ${pid}${of}${about ? ` (${about})` : ''}${age}`
}
