import { SecretMissing } from './errors.ts'
import { expectedSecrets, noteSecrets } from './expected-secrets.ts'
import type { SecretLookup } from './source.ts'

type Found = { value: string | null } | { error: unknown }

/** A function that makes names up would be called without end. */
const MOST_CALLS = 100

/**
 * The secrets of one request. Each is looked up once, after the request has come, so that a rotated
 * one counts for the next request. They are remembered so that a missing secret is told from a wrong
 * signature, and that none gets into a log.
 */
export class SecretsOfRequest {
  #found = new Map<string, Found>()
  #asked = new Set<string>()
  #get: (name: string) => Promise<string | null>

  constructor(get: (name: string) => Promise<string | null>) {
    this.#get = get
  }

  /**
   * Calls a function of a source with a `secret` that answers with values. What it is expected to ask
   * for is looked up beforehand. Where it asks for another secret, that is looked up, the outcome of
   * the call is discarded, and the function is called again.
   */
  async call<Answer>(
    own: object,
    run: (secret: SecretLookup) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    await this.#lookUp(expectedSecrets(own))
    for (let calls = 1; calls <= MOST_CALLS; calls++) {
      const asked = new Set<string>()
      const unknown = new Set<string>()
      const given = new GivenLookup(this.#found, asked, unknown)
      const ended = outcomeOf(() => given.during(() => run(given.look)))
      // A call that has asked for what is not there yet is given up: it may wait for it for ever.
      const outcome = await Promise.race([ended, given.hasLacked])
      if (outcome && unknown.size === 0) {
        noteSecrets(own, asked)
        for (const name of asked) this.#asked.add(name)
        return outcome()
      }
      await this.#lookUp(unknown)
    }
    throw new RangeError(`a function of the source asks for more than ${MOST_CALLS} secrets`)
  }

  /**
   * One of several secrets may be missing, as between two rotations.
   *
   * @throws SecretMissing, or the error of a lookup, where secrets were asked for and none is there
   */
  assertFound(): void {
    const found = [...this.#asked].map((name) => this.#found.get(name))
    if (found.length === 0 || found.some((one) => valueOf(one) !== null)) return
    for (const one of found) if (one && 'error' in one) throw one.error
    throw new SecretMissing([...this.#asked].join(', '))
  }

  /** Whether a text quotes a secret, or eight characters in a row of one, as parsers' messages do. */
  isQuotedIn(text: string): boolean {
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
      // Only for the function that asks for it: not each of them needs what it is expected to need.
      return { error }
    }
  }
}

/** The `secret` of one call. */
class GivenLookup {
  #found: ReadonlyMap<string, Found>
  #asked: Set<string>
  #unknown: Set<string>
  #lacks = Promise.withResolvers<undefined>()
  #isCalling = false

  constructor(found: ReadonlyMap<string, Found>, asked: Set<string>, unknown: Set<string>) {
    this.#found = found
    this.#asked = asked
    this.#unknown = unknown
  }

  /** Resolves when a secret was asked for that has to be looked up first. */
  get hasLacked(): Promise<undefined> {
    return this.#lacks.promise
  }

  during<Answer>(run: () => Answer): Answer {
    this.#isCalling = true
    try {
      return run()
    } finally {
      this.#isCalling = false
    }
  }

  readonly look: SecretLookup = (name) => {
    const found = this.#found.get(name)
    if (found === undefined) {
      this.#unknown.add(name)
      this.#lacks.resolve(undefined)
      // Not `null`, as long as the error comes back here: a function that keeps the key it has made
      // would keep one made of nothing. In a callback nothing might catch it.
      if (this.#isCalling) throw new SecretNotLookedUp(name)
      return null
    }
    this.#asked.add(name)
    if ('error' in found) throw found.error
    return found.value
  }
}

const valueOf = (found: Found | undefined): string | null =>
  found && 'value' in found ? found.value : null

/** What a call comes to, to be returned or thrown later. */
async function outcomeOf<Answer>(run: () => Answer | Promise<Answer>): Promise<() => Answer> {
  try {
    const answer = await run()
    return () => answer
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** Ends a call that is made again when the secret is there. */
class SecretNotLookedUp extends Error {
  constructor(name: string) {
    super(
      `the secret ${name} has to be looked up first: let this error pass, the function is called again when the secret is there. Ask for secrets in the function itself, not in a callback of a library`,
    )
    this.name = 'SecretNotLookedUp'
  }
}
