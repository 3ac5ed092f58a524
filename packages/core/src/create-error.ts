import { createError as createFastifyError, type FastifyError } from '@fastify/error'
import { HOMEPAGE } from './package-folder.ts'

/** What every error of ours is. */
export interface SvcError extends FastifyError {
  statusCode: number
  /** The address of its part of the reference. Node and pino print it with the error; no answer has it. */
  docs: string
}

export type SvcErrorClass<Args extends unknown[]> = new (...args: Args) => SvcError

/** The class of an error. Each `%s` of its message is an argument of its constructor, and the last one may be a cause. */
export function createError<Args extends unknown[] = [{ cause: unknown }?]>(
  code: string,
  message: string,
  statusCode: number,
): SvcErrorClass<Args> {
  const docs = `${HOMEPAGE}/reference/errors#${code.toLowerCase().replaceAll('_', '-')}`
  // The stack is captured here, so that it begins where the error was made.
  const Base = createFastifyError<Args>(code, message, statusCode, Error, false)
  return class extends Base implements SvcError {
    declare statusCode: number
    readonly docs = docs

    constructor(...args: Args) {
      super(...args)
      Error.captureStackTrace(this, new.target)
    }
  }
}
