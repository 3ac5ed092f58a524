/**
 * Which connection the guard's statements take: the application's pool, which slow queries of the
 * application may use up, or the line, the one connection that core keeps for itself. `db` asks the
 * pool, and cancels in the server what is given up here.
 */
import type { Svc } from '@svc/core'
import type { Db, Notifications } from '@svc/core/internal'
import { within } from './limited-pool.ts'

type Pool = Svc['database']
type Line = Pick<Notifications, 'ask' | 'isResponsive'>

/** A statement of the guard takes a few milliseconds: after so long the line counts as stuck. */
const STUCK_MS = 300

/**
 * The line, before whatever else waits for it, as long as it answers: what keeps the guard's
 * knowledge fresh must not wait for the application. Else the pool where that is free.
 */
export const preferringLine = (pool: Pool, db: Db, line: Line, ms: number): Db => ({
  query: (text, values = []) =>
    line.isResponsive(STUCK_MS) || isUsedUp(pool)
      ? line.ask(text, values, { timeoutMs: ms, isUrgent: true })
      : within(ms, db.query(text, values)),
})

/** The pool as long as it has a connection to spare, else the line. */
export const preferringPool = (pool: Pool, db: Db, line: Line, ms: number): Db => ({
  query: (text, values = []) =>
    isUsedUp(pool) ? line.ask(text, values, { timeoutMs: ms }) : within(ms, db.query(text, values)),
})

/** A host may give a pool that does not tell its numbers: then it counts as free. */
function isUsedUp({ idleCount, totalCount, waitingCount, options }: Pool): boolean {
  return idleCount + options?.max - totalCount <= waitingCount
}
