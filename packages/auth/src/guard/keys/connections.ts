/**
 * Which connection a statement of the guard takes: one of the application's pool, which slow queries
 * of the application may use up, or the connection that core listens with. Statements on `db` take
 * the pool, and are cancelled in the server where their time has run out here.
 */
import type { Svc } from '@svc/core'
import type { Db, Notifications } from '@svc/core/internal'
import { withTimeout } from './statement-limits.ts'

type Pool = Svc['database']
type Listener = Pick<Notifications, 'query' | 'isResponsive'>

/** A statement of the guard takes a few milliseconds: after 300 the listener counts as stuck. */
const STUCK_MS = 300

/**
 * The listener, ahead of all other statements that wait for it, and the pool where the listener does
 * not answer and the pool is not used up. For polls, which must not wait for the application.
 */
export const preferListener = (pool: Pool, db: Db, listener: Listener, ms: number): Db => ({
  query: (text, values = []) =>
    listener.isResponsive(STUCK_MS) || isUsedUp(pool)
      ? listener.query(text, values, { timeoutMs: ms, isUrgent: true })
      : withTimeout(ms, db.query(text, values)),
})

/** The pool, and the listener where the pool is used up. */
export const preferPool = (pool: Pool, db: Db, listener: Listener, ms: number): Db => ({
  query: (text, values = []) =>
    isUsedUp(pool)
      ? listener.query(text, values, { timeoutMs: ms })
      : withTimeout(ms, db.query(text, values)),
})

/** A pool of the host's own that does not show its numbers counts as free. */
function isUsedUp({ idleCount, totalCount, waitingCount, options }: Pool): boolean {
  return idleCount + options?.max - totalCount <= waitingCount
}
