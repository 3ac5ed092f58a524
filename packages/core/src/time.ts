/** The ways to wait for time. */
import { setTimeout as sleep } from 'node:timers/promises'

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

/** Runs a function when its time is up. The process does not stay alive for it. */
export class Timer {
  #run: () => unknown
  #timer: NodeJS.Timeout | undefined

  constructor(run: () => unknown) {
    this.#run = run
  }

  get isSet(): boolean {
    return this.#timer !== undefined
  }

  /** Where it is set already, its time stays. */
  set(ms: number): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined
        this.#run()
      },
      Math.max(0, ms),
    ).unref()
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

/** Rejects with the reason of the signal when it aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    signal?.throwIfAborted()
    throw error
  })
}
