import { Unavailable } from '../errors.ts'
import { isConnectionError } from './connection-errors.ts'

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

export const asUnavailable = (error: unknown): unknown =>
  isConnectionError(error) && !(error instanceof Unavailable)
    ? new Unavailable({ cause: error })
    : error
