/** The secrets that a function of a source is expected to ask for: they are looked up before the call. */
const expected = new WeakMap<object, readonly string[]>()

/** A function that asks for different secrets from call to call finds this many of them. */
const MIN_KEPT = 4

/** Declares the secrets that a function asks for. */
export function expectSecrets<Fn extends object>(fn: Fn, names: readonly string[]): Fn {
  expected.set(fn, names)
  return fn
}

/** The names that were declared, or that earlier calls asked for. */
export const expectedSecrets = (fn: object): readonly string[] => expected.get(fn) ?? []

/** Records what a call asked for. The oldest names are dropped: names may come from requests. */
export function recordSecrets(fn: object, asked: ReadonlySet<string>): void {
  const others = expectedSecrets(fn).filter((name) => !asked.has(name))
  expected.set(fn, [...asked, ...others].slice(0, Math.max(MIN_KEPT, asked.size)))
}
