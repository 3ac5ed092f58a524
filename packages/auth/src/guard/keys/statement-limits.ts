/** Limits of time and number for statements in the way of requests. */
import { within, type Db } from '@svc/core/internal'

/** Rejects after `ms`. The operation goes on, and its result is dropped. */
export const withTimeout = <T>(ms: number, result: Promise<T>): Promise<T> =>
  within(ms, result, () => {
    throw new Error(`no answer within ${ms} ms`)
  })

/**
 * `db` with at most `width` statements at once: a flood of requests queues here and not
 * in the pool, where the application's statements wait. A statement that has waited for `ms` rejects.
 */
export function withConcurrencyLimit(db: Db, width: number, ms: number): Db {
  const waiting = new Set<() => void>()
  let free = width

  const turn = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer)
        waiting.delete(start)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(start)
        reject(new Error(`no turn within ${ms} ms`))
      }, ms)
      waiting.add(start)
    })

  return {
    async query(text, values) {
      if (free > 0) free--
      else await turn()
      try {
        return await db.query(text, values)
      } finally {
        const [next] = waiting
        if (next) next()
        else free++
      }
    },
  }
}
