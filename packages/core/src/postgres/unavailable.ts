import { DatabaseFailed, Unavailable } from '../errors.ts'
import { isSqlState, whyUnavailable } from './connection-errors.ts'
import { isContention } from './contention.ts'

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

/**
 * Of statements that are all ours: nothing of pg reaches the caller, whose rows an error of Postgres may
 * quote. That of a transaction that had to give way is left as it is: see `asBusy`.
 */
export async function orDatabaseError<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result
  } catch (error) {
    throw asDatabaseError(error)
  }
}

function asDatabaseError(error: unknown): unknown {
  const own = asUnavailable(error)
  const { code } = (own ?? {}) as { code?: unknown }
  return isSqlState(code) && !isContention(own) ? new DatabaseFailed(code, { cause: own }) : own
}
