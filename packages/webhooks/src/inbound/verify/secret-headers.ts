/** The headers with a signature or a credential that a verification reads: no log shows them. */
const known = new WeakMap<object, readonly string[]>()

export function hideHeaders<Fn extends object>(verify: Fn, names: readonly string[]): Fn {
  known.set(
    verify,
    names.map((name) => name.toLowerCase()),
  )
  return verify
}

export const hiddenHeaders = (verify: object): readonly string[] => known.get(verify) ?? []
