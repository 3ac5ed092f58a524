import type { SecretLookup } from './source.ts'

/**
 * The secrets of one request: looked up when asked for, and remembered so long, so that a missing
 * one is told from a wrong signature and none gets into a log.
 */
export class SecretsOfRequest {
  #missing: string[] = []
  #values: string[] = []
  #get: SecretLookup

  constructor(get: SecretLookup) {
    this.#get = get
  }

  readonly look: SecretLookup = async (name) => {
    const value = await this.#get(name)
    if (typeof value === 'string' && value !== '') {
      this.#values.push(value)
      return value
    }
    this.#missing.push(name)
    return null
  }

  /**
   * The secrets that were asked for in vain, where none was there at all. One of several may be
   * missing, as between two rotations.
   */
  get lacking(): string | undefined {
    return this.#values.length === 0 && this.#missing.length > 0
      ? this.#missing.join(', ')
      : undefined
  }

  /** Whether a text quotes a secret, or eight characters in a row of one, as parsers' messages do. */
  isQuotedIn(text: string): boolean {
    return this.#values.some((value) => {
      if (value.length <= 8) return text.includes(value)
      for (let from = 0; from + 8 <= value.length; from++) {
        if (text.includes(value.slice(from, from + 8))) return true
      }
      return false
    })
  }
}
