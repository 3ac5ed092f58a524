import { InvalidSecret } from './errors.ts'
import { kindOf } from './options/check-options.ts'
import type { SvcCoreOptions } from './core-options.ts'

/**
 * `fastify.svc.secrets`: looks secrets up by name, without a cache.
 *
 * @example
 * const token = await app.svc.secrets.get('PAYMENT_TOKEN')
 */
export interface Secrets {
  /**
   * The secret; `null` where it is missing or empty.
   *
   * @throws InvalidSecret where the option `secrets` gave something else than text
   */
  get: (name: string) => Promise<string | null>
}

export function createSecrets(lookUp: NonNullable<SvcCoreOptions['secrets']>): Secrets {
  return {
    async get(name) {
      const value: unknown = await lookUp(name)
      if (value === undefined || value === null || value === '') return null
      if (typeof value === 'string') return value
      // Its kind and not its value: a number may be the secret.
      throw new InvalidSecret(name, typeof value === 'object' ? kindOf(value) : `a ${typeof value}`)
    },
  }
}
