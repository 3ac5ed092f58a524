import { DatabaseFailed, Unavailable } from '../errors.ts'
import { isSqlState, whyUnavailable } from './connection-errors.ts'
import { asBusy, BUSY, isContention } from './contention.ts'
import type { Db } from './transaction.ts'

/**
 * The error that is thrown where Postgres does not answer, in place of that of pg, which is its
 * cause.
 */
export async function orUnavailable<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result
  } catch (error) {
    throw asUnavailable(error)
  }
}

export function asUnavailable(error: unknown): unknown {
  const why = error instanceof Unavailable ? undefined : whyUnavailable(error)
  return why === undefined
    ? error
    : Object.assign(new Unavailable({ cause: error }), { message: why })
}

/** What is the matter where a statement may succeed when it is tried again; `undefined` for other errors. */
export const whyNotNow = (error: unknown): string | undefined =>
  whyUnavailable(error) ?? (isContention(error) ? BUSY : undefined)

/**
 * Of statements that are all ours: nothing of pg reaches the caller, since an error of Postgres may quote
 * rows. In the transaction `db` of a caller that of a statement that had to give way is left as it is: the
 * caller runs the whole of it again.
 */
export async function orDatabaseError<Result>(result: Promise<Result>, db?: Db): Promise<Result> {
  try {
    return await result
  } catch (error) {
    throw asDatabaseError(error, db !== undefined)
  }
}

function asDatabaseError(error: unknown, isOfCaller: boolean): unknown {
  const own = asUnavailable(error)
  if (isContention(own)) return isOfCaller ? own : asBusy(own)
  const { code } = (own ?? {}) as { code?: unknown }
  return isSqlState(code) ? new DatabaseFailed(code, { cause: own }) : own
}
