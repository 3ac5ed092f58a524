/**
 * Which headers the log masks and which it shows, where that does not follow from the name of a
 * header.
 */
import type { InboundSource } from '../source.ts'

const hidden = new WeakMap<object, readonly string[]>()
const shown = new WeakMap<object, readonly string[]>()

const lowerCased = (names: readonly string[]) => names.map((name) => name.toLowerCase())

/** The headers with a signature or a credential that a verification reads: no log shows them. */
export function hideHeaders<Fn extends object>(verify: Fn, names: readonly string[]): Fn {
  hidden.set(verify, lowerCased(names))
  return verify
}

export const hiddenHeaders = (verify: object): readonly string[] => hidden.get(verify) ?? []

/** The headers with a type, an id or a time that a function reads: they are no secret. */
export function showHeaders<Fn extends object>(fn: Fn, names: readonly string[]): Fn {
  shown.set(fn, lowerCased(names))
  return fn
}

export function shownHeaders({ publishAs, deduplicationKey, verify }: InboundSource): string[] {
  return [publishAs, deduplicationKey, verify].flatMap((fn) =>
    typeof fn === 'function' ? (shown.get(fn) ?? []) : [],
  )
}
