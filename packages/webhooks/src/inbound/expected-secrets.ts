/** Which secrets a function of a source will ask for: those are looked up before it is called. */
const expected = new WeakMap<object, readonly string[]>()

/** A function that asks for one secret or for another finds both, also where it asks for few. */
const LEAST_KEPT = 4

/** Declares what a function asks for. */
export function expectSecrets<Own extends object>(own: Own, names: readonly string[]): Own {
  expected.set(own, names)
  return own
}

/** What was declared, or learnt from earlier calls. */
export const expectedSecrets = (own: object): readonly string[] => expected.get(own) ?? []

/** Notes what a call has asked for. The oldest names give way, as they may come from the request. */
export function noteSecrets(own: object, asked: ReadonlySet<string>): void {
  const others = expectedSecrets(own).filter((name) => !asked.has(name))
  expected.set(own, [...asked, ...others].slice(0, Math.max(LEAST_KEPT, asked.size)))
}
