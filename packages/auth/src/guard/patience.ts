/** Waiting that ends: a Postgres that is silent, and not gone, would hold requests for minutes. */
import type { Svc } from '@svc/core'
import type { Db } from '@svc/core/kit'

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

/** The same pool for one who cannot wait. */
export function impatient(pool: Svc['database'], ms: number): Db {
  return {
    query(text, values = []) {
      // With this pg gives up the connection as well, so that the pool gets its place back.
      const statement = { text, values, query_timeout: ms }
      return within(ms, pool.query(statement))
    },
  }
}
