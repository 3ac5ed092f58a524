/** Statements that were in the way of others: Postgres answers, and the same may work a moment later. */
import { Unavailable } from '../errors.ts'

/**
 * SQLSTATEs: a statement that took too long (57014), a lock that was not to be had in time (55P03),
 * a deadlock (40P01).
 */
const CONTENTION = new Set(['57014', '55P03', '40P01'])
const DEADLOCK = '40P01'
/** In a deadlock one of the transactions is ended, and the others go on: a second one is rare. */
const MOST_REPEATS = 2

/** Whether an error, or that which is the cause of an Unavailable, is one of these. */
export function isContention(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  if (code === 'SVC_UNAVAILABLE') return cause !== undefined && isContention(cause)
  return typeof code === 'string' && CONTENTION.has(code)
}

export const BUSY = 'the database is busy, try again'

/**
 * The error that is thrown where a transaction of our own, or a statement outside of one, had to give
 * way. In a transaction of the caller the error of pg is passed on: the caller has to roll back.
 */
export const asBusy = (error: unknown): unknown =>
  isContention(error) && !(error instanceof Unavailable)
    ? Object.assign(new Unavailable({ cause: error }), { message: BUSY })
    : error

/** Runs a whole transaction again that was ended in a deadlock. */
export async function repeatedOnDeadlock<T>(transact: () => Promise<T>): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await transact()
    } catch (error) {
      const { code } = (error ?? {}) as { code?: unknown }
      if (code !== DEADLOCK || repeats === MOST_REPEATS) throw error
    }
  }
}
