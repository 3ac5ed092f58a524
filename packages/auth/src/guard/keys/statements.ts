/** How statements in the way of requests are sent: on which connection, and within limits of time and number. */
import type { Svc } from '@svc/core'
import { within, type Db, type Notifications } from '@svc/core/internal'

/** Rejects after `ms`. The operation goes on, and its result is dropped. */
export const withTimeout = <T>(ms: number, result: Promise<T>): Promise<T> =>
  within(ms, result, () => {
    throw new Error(`no answer within ${ms} ms`)
  })

/**
 * `db` with at most `width` statements at once: a flood of requests queues here and not
 * in the pool, where the application's statements wait. A statement that has waited for `ms` rejects.
 */
export function withAtMost(db: Db, width: number, ms: number): Db {
  const waiting = new Set<() => void>()
  let free = width

  const turn = (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.add(resolve)
    return within(ms, promise, () => {
      waiting.delete(resolve)
      throw new Error(`no turn within ${ms} ms`)
    })
  }

  return {
    async query(text, values) {
      if (free > 0) free--
      else await turn()
      try {
        return await db.query(text, values)
      } finally {
        const [next] = waiting
        if (next) {
          waiting.delete(next)
          next()
        } else free++
      }
    },
  }
}

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
