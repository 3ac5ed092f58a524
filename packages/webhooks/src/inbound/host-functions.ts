/**
 * Which function of a host threw an error. The inbound log names it: the error's own message may
 * quote a payload, and is left to the log of the host.
 */
const throwers = new WeakMap<Error, string>()

/** Calls a function of a host, and notes its name where it throws. The innermost name counts. */
export function calling<Result>(name: string, run: () => Result): Result {
  const failed = (error: unknown): never => {
    if (error instanceof Error && !throwers.has(error)) throwers.set(error, name)
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
