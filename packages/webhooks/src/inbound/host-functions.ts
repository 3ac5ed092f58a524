import { inspect } from 'node:util'

/**
 * Which function of a host threw an error. The inbound log names it: the error's own message may
 * quote a payload, and is left to the log of the host.
 */
const throwers = new WeakMap<Error, string>()

/** Calls a function of a host, and notes its name where it throws. The innermost name counts. */
export function calling<Result>(name: string, run: () => Result): Result {
  const failed = (thrown: unknown): never => {
    const error = errorOf(thrown)
    if (!throwers.has(error)) throwers.set(error, name)
    throw error
  }
  try {
    const result = run()
    return result instanceof Promise ? (result.catch(failed) as Result) : result
  } catch (error) {
    return failed(error)
  }
}

export const throwerOf = (error: Error): string | undefined => throwers.get(error)

/** For an error that takes the place of another. */
export function noteThrower(error: Error, original: unknown): void {
  const name = original instanceof Error ? throwers.get(original) : undefined
  if (name !== undefined) throwers.set(error, name)
}

/** Stands for a thrown value that is no Error: such a value has neither a message nor a stack to log. */
export class NotAnError extends Error {
  override name = 'NotAnError'
  /** The type of the value, which may quote a payload itself. */
  readonly type: string

  constructor(thrown: unknown) {
    const text = inspect(thrown, { customInspect: false, depth: 1, maxStringLength: 200 })
    super(`a value was thrown that is not an Error: ${text}`)
    this.type = thrown === null ? 'null' : typeof thrown
  }
}

export const errorOf = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new NotAnError(thrown)
