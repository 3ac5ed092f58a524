/**
 * The advisory lock of this process, held on the connection that listens and on those that settle jobs:
 * Postgres releases it when the process dies, whatever has killed it, and not when one connection is lost
 * that cannot be made again. Jobs name the process that has claimed them, so that
 * they are taken back within seconds. Behind a pooler no lock is held, since a session of it would
 * keep the lock of a process that has ended: there the lease of the process ends.
 */
import { ADVISORY_LOCKS } from '../postgres/advisory-locks.ts'
import type { Notifications } from '../postgres/notifications.ts'
import type { WorkerPool } from '../postgres/worker-pool.ts'

const TIMEOUT_MS = 5000
/** How often a process checks that it holds its lock, which takes no statement while it does. */
export const LOCK_SECONDS = 1

/** The key of a process's lock, as an expression of SQL over its id. */
export const lockKeyOf = (id: string): string =>
  `hashtextextended(${id}, ${ADVISORY_LOCKS.processes})`

/**
 * Postgres ends the session within half a minute when the machine of the process no longer answers,
 * and with it the lock. By default that takes hours.
 */
const UNREACHABLE_ENDS = Object.entries({
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '25000',
})
  .map(([name, value]) => `set_config('${name}', '${value}', false)`)
  .join(', ')

/** The connections of a process share it, also with one that broke and that Postgres has not ended yet. */
const TAKE = `select ${UNREACHABLE_ENDS}, pg_try_advisory_lock_shared(${lockKeyOf('$1::text')}) as "isHeld"`
/**
 * Otherwise a backend that waits for a lock, or computes, sees only later that its client is gone. Postgres
 * refuses it where the system cannot tell.
 */
const SEES_THE_END = `set client_connection_check_interval = '1s'`

export class ProcessLock {
  #id: string
  #notifications: Pick<Notifications, 'query' | 'session'>
  /** The connection on which the lock is held. */
  #heldIn: number | undefined

  constructor(id: string, notifications: Pick<Notifications, 'query' | 'session'>) {
    this.#id = id
    this.#notifications = notifications
  }

  get isHeld(): boolean {
    return this.#heldIn !== undefined && this.#heldIn === this.#notifications.session
  }

  /** Takes the lock on each connection of the pool as well. */
  holdOn(pool: Pick<WorkerPool, 'onEachConnection'>): Promise<void> {
    return pool.onEachConnection(async (db) => {
      await db.query(TAKE, [this.#id])
      await db.query(SEES_THE_END)
    })
  }

  /** Takes the lock where it is not held: at boot, and after the connection was lost. */
  async hold(): Promise<void> {
    if (this.isHeld) return
    const { rows } = await this.#notifications.query(TAKE, [this.#id], { timeoutMs: TIMEOUT_MS })
    const { isHeld } = rows[0] as { isHeld: boolean }
    this.#heldIn = isHeld ? this.#notifications.session : undefined
  }
}
