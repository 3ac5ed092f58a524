/** Asks until the answer is as wanted, and returns it; the test's own timeout ends it. */
export async function until<Value>(
  ask: () => Value | Promise<Value>,
  wanted: (value: Value) => boolean = Boolean,
  pauseMs = 10,
): Promise<Value> {
  for (;;) {
    const value = await ask()
    if (wanted(value)) return value
    await new Promise((resolve) => {
      setTimeout(resolve, pauseMs)
    })
  }
}
