import { Unavailable } from '../errors.ts'
import { isConnectionError } from './connection-errors.ts'

/** Where Postgres cannot be asked, the error of the house in place of that of pg, which is its cause. */
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
