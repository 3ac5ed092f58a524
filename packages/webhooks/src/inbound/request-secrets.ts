import { SecretMissing } from './errors.ts'
import type { InboundRequest, SecretLookup } from './source.ts'

/** The secrets that a function says it uses, which are looked up before it is called: the same ones, or those of a request. */
export type Expected = readonly string[] | ((request: InboundRequest) => readonly string[])

type Found = { value: string | null } | { error: unknown }

/** A function that uses a new name in each call would be called without end. */
const MAX_CALLS = 100

/**
 * The secrets of one request. Each is looked up once, after the request has arrived: a rotated
 * secret counts from the next request on. The values are kept to distinguish a missing secret from
 * a wrong signature, and to keep them out of logs.
 */
export class RequestSecrets {
  #found = new Map<string, Found>()
  #asked = new Set<string>()
  #get: (name: string) => Promise<string | null>

  constructor(get: (name: string) => Promise<string | null>) {
    this.#get = get
  }

  /**
   * Calls a function of a source with a `secret` that returns values. Where it uses a secret that is not looked up
   * yet, that is looked up, the result of the call is discarded, and the function is called again.
   */
  async call<Answer>(
    expected: Expected,
    request: InboundRequest,
    run: (secret: SecretLookup) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    await this.#lookUp(typeof expected === 'function' ? expected(request) : expected)
    for (let calls = 1; calls <= MAX_CALLS; calls++) {
      const asked = new Set<string>()
      const unknown = new Set<string>()
      const absent = Promise.withResolvers<void>()
      let isCalling = true
      const secret: SecretLookup = (name) => {
        const found = this.#found.get(name)
        if (found === undefined) {
          unknown.add(name)
          absent.resolve()
          // Thrown where the error returns to us: a function that caches the key it has made must not
          // make one of `null`. In a callback the error might stay uncaught.
          if (isCalling) throw new SecretNotLookedUp(name)
          return null
        }
        asked.add(name)
        if ('error' in found) throw found.error
        return found.value
      }
      const called = async () => {
        try {
          return run(secret)
        } finally {
          isCalling = false
        }
      }
      const ended = Promise.allSettled([called()])
      // The result of a call that used a missing secret is not awaited: it might never settle.
      const outcome = await Promise.race([ended, absent.promise])
      if (outcome && unknown.size === 0) {
        for (const name of asked) this.#asked.add(name)
        const [settled] = outcome
        if (settled.status === 'rejected') throw settled.reason
        return settled.value
      }
      await this.#lookUp(unknown)
    }
    throw new RangeError(`a function of the source asks for more than ${MAX_CALLS} secrets`)
  }

  /**
   * Of several secrets some may be missing, as between two rotations.
   *
   * @throws SecretMissing, or the error of a lookup, where secrets were used and none was found
   */
  assertFound(): void {
    const found = [...this.#asked].map((name) => this.#found.get(name))
    if (found.length === 0 || found.some((one) => valueOf(one) !== null)) return
    for (const one of found) if (one && 'error' in one) throw one.error
    throw new SecretMissing([...this.#asked].join(', '))
  }

  /** Whether a text quotes a secret, or 8 characters in a row of one, as messages of parsers do. */
  leaksInto(text: string): boolean {
    return [...this.#found.values()].some((found) => {
      const value = valueOf(found)
      if (value === null) return false
      if (value.length <= 8) return text.includes(value)
      for (let from = 0; from + 8 <= value.length; from++) {
        if (text.includes(value.slice(from, from + 8))) return true
      }
      return false
    })
  }

  async #lookUp(names: Iterable<string>): Promise<void> {
    const missing = [...names].filter((name) => !this.#found.has(name))
    await Promise.all(missing.map(async (name) => this.#found.set(name, await this.#find(name))))
  }

  async #find(name: string): Promise<Found> {
    try {
      const value = await this.#get(name)
      return { value: typeof value === 'string' && value !== '' ? value : null }
    } catch (error) {
      // Thrown when a function uses the secret: it may not use every secret that it is expected to.
      return { error }
    }
  }
}

const valueOf = (found: Found | undefined): string | null =>
  found && 'value' in found ? found.value : null

/** Ends a call that is repeated when the secret is there. */
class SecretNotLookedUp extends Error {
  constructor(name: string) {
    super(
      `the secret ${name} has to be looked up first: let this error pass, the function is called again when the secret is there. Ask for secrets in the function itself, not in a callback of a library`,
    )
    this.name = 'SecretNotLookedUp'
  }
}
