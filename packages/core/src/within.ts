/**
 * What a promise resolves to, if it does so within `ms`, which is negative where a deadline has passed.
 * Otherwise `late` decides: it throws, or returns another value. What the promise comes to after that
 * is dropped.
 */
export async function within<Value, Late>(
  ms: number,
  promise: Value | PromiseLike<Value>,
  late: () => Late,
): Promise<Value | Late> {
  const { promise: isLate, resolve } = Promise.withResolvers<void>()
  let isDecided = false
  // What came while the process was busy is read first.
  const timer = setTimeout(() => setImmediate(() => isDecided || resolve()), Math.max(0, ms))
  try {
    return await Promise.race([promise, isLate.then(late)])
  } finally {
    isDecided = true
    clearTimeout(timer)
  }
}
