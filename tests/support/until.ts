const FIRST_PAUSE_MS = 5
/** Each time it pauses longer: most waits are short, and many of them are queries. */
const LONGER_BY = 1.25

/** Asks until the answer is as wanted, and returns it; the test's own timeout ends it. */
export async function until<Value>(
  ask: () => Value | Promise<Value>,
  wanted: (value: Value) => boolean = Boolean,
  longestPauseMs = 50,
): Promise<Value> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(longestPauseMs, pauseMs * LONGER_BY)) {
    const value = await ask()
    if (wanted(value)) return value
    await new Promise((resolve) => {
      setTimeout(resolve, pauseMs)
    })
  }
}

/** Asks for a list until it has so many entries, and returns it. */
export const untilCount = <List extends { length: number }>(
  count: number,
  ask: () => List | Promise<List>,
): Promise<List> => until(ask, ({ length }) => length === count)
