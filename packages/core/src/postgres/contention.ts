/** Statements that were in the way of others: Postgres answers, and the same may work a moment later. */
import { Unavailable } from '../errors.ts'

/**
 * SQLSTATEs: a statement that took too long (57014), a lock that was not to be had in time (55P03),
 * a deadlock (40P01), a change by another transaction that the isolation level does not allow (40001).
 */
const CONTENTION = new Set(['57014', '55P03', '40P01', '40001'])
const LOCK_TIMEOUT = '55P03'
const DEADLOCK = '40P01'
const CONFLICT = '40001'
/** In a deadlock one of the transactions is ended, and the others go on: a second one is rare. */
const MOST_REPEATS = 2
/** Many processes may change the same row, such as that of a limit. */
const MOST_REPEATS_ON_CONFLICT = 20

/** Whether an error, or that which is the cause of an Unavailable, is one of these. */
export function isContention(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  if (code === 'SVC_UNAVAILABLE') return cause !== undefined && isContention(cause)
  return typeof code === 'string' && CONTENTION.has(code)
}

/** Whether the server has ended a statement that took too long. */
export const isStatementTimeout = (error: unknown): boolean =>
  ((error ?? {}) as { code?: unknown }).code === '57014'

/** Whether a lock was not to be had in time. */
export const isLockTimeout = (error: unknown): boolean =>
  ((error ?? {}) as { code?: unknown }).code === LOCK_TIMEOUT

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
export const repeatedOnDeadlock = <T>(transact: () => Promise<T>): Promise<T> =>
  repeatedOn(DEADLOCK, MOST_REPEATS, transact)

/**
 * Runs a statement again that is a transaction of its own, where it met a change by another one: the
 * default isolation level of the database may be `repeatable read` or `serializable`.
 */
export const repeatedOnConflict = <T>(statement: () => Promise<T>): Promise<T> =>
  repeatedOn(CONFLICT, MOST_REPEATS_ON_CONFLICT, statement)

async function repeatedOn<T>(code: string, most: number, run: () => Promise<T>): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await run()
    } catch (error) {
      const isIt = ((error ?? {}) as { code?: unknown }).code === code
      if (!isIt || repeats === most) throw error
    }
  }
}
