import type { SvcCoreOptions } from './options.ts'

/** Looks secrets up by name. */
export interface Secrets {
  /** The secret, or `null` where there is none; an empty one counts as none. */
  get(name: string): Promise<string | null>
}

export function makeSecrets(lookUp: NonNullable<SvcCoreOptions['secrets']>): Secrets {
  return {
    async get(name) {
      const value = await lookUp(name)
      return typeof value === 'string' && value !== '' ? value : null
    },
  }
}
