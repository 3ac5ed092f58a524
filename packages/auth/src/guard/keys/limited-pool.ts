/** Waiting that ends: a Postgres that is silent, and not gone, would hold requests for minutes. */
import type { Db } from '@svc/core/internal'

/** Rejects after `ms`. What it waited for goes on, and is heard by nobody. */
export async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([answer, tooLate])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * The same database with at most `width` statements at once: a flood queues here, and not in the pool, where
 * the application waits. Who has waited `ms` for its turn is turned away.
 */
export function narrow(db: Db, width: number, ms: number): Db {
  const waiting = new Set<() => void>()
  let free = width

  const turn = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const come = () => {
        clearTimeout(timer)
        waiting.delete(come)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(come)
        reject(new Error(`no turn within ${ms} ms`))
      }, ms)
      waiting.add(come)
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
