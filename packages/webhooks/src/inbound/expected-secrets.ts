/**
 * The secrets that a function of a source is expected to use. They are looked up before the call.
 */
import type { InboundRequest } from './source.ts'

type Names = readonly string[]
/** Fixed names, or those of a request. */
type Expected = Names | ((request: InboundRequest) => Names)

const expected = new WeakMap<object, Expected>()

/** How many names are kept of a function that uses different secrets from call to call. */
const MIN_KEPT = 4

/** Declares the secrets that a function uses. */
export function expectSecrets<Fn extends object>(fn: Fn, names: Expected): Fn {
  expected.set(fn, names)
  return fn
}

/** The names that were declared, or that earlier calls used. */
export function expectedSecrets(fn: object, request: InboundRequest): Names {
  const names = expected.get(fn) ?? []
  return typeof names === 'function' ? names(request) : names
}

/**
 * Records the secrets that a call used. The oldest names are dropped: names may come from requests.
 */
export function recordSecrets(fn: object, asked: ReadonlySet<string>): void {
  const known = expected.get(fn) ?? []
  if (typeof known === 'function') return
  const others = known.filter((name) => !asked.has(name))
  expected.set(fn, [...asked, ...others].slice(0, Math.max(MIN_KEPT, asked.size)))
}
