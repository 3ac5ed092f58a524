import { InvalidSecret } from './errors.ts'
import { kindOf } from './options/check-options.ts'
import { within } from './time.ts'

/**
 * `fastify.svc.secrets`: looks secrets up by name, without a cache.
 *
 * @example
 * const token = await app.svc.secrets.get('PAYMENT_TOKEN')
 */
export interface Secrets {
  /**
   * The secret, without the white space around it, of which the log warns once: a file often ends
   * with a line break. `null` where it is missing, empty or nothing but white space.
   *
   * @throws InvalidSecret where the option `secrets` gave something else than text
   * @throws the error of the option `secrets`, or one that says that it gave nothing in 8 seconds
   */
  get: (name: string) => Promise<string | null>
}

/** Below the ten seconds that Fastify gives a plugin, as some are looked up at boot. */
const FOUND_WITHIN_MS = 8000

export function createSecrets(
  lookUp: (name: string) => unknown,
  log: { warn(details: object, message: string): void },
  withinMs = FOUND_WITHIN_MS,
): Secrets {
  const warned = new Set<string>()
  return {
    async get(name) {
      // A secret manager that never answers would hold each request that needs a secret.
      const value: unknown = await within(withinMs, lookUp(name), () => {
        throw new Error(`the option "secrets" gave no ${name} within ${withinMs / 1000} seconds`)
      })
      if (value === undefined || value === null || value === '') return null
      if (typeof value === 'string') {
        const trimmed = value.trim()
        // PEM ends with a line break.
        if (trimmed !== value && !trimmed.startsWith('-----BEGIN ') && !warned.has(name)) {
          warned.add(name)
          log.warn({ secret: name }, whatIsAround(trimmed))
        }
        return trimmed === '' ? null : trimmed
      }
      // Its kind and not its value: a number may be the secret.
      throw new InvalidSecret(name, typeof value === 'object' ? kindOf(value) : `a ${typeof value}`)
    },
  }
}

const whatIsAround = (trimmed: string): string =>
  trimmed === ''
    ? 'a secret is nothing but white space: it counts as not set'
    : 'a secret begins or ends with white space, which is left out: store it without'
