/** The rows, and what docs and tools show of them. */
import type { Preset } from './preset.ts'
import type { Scheme } from './preset-schemes.ts'
import { presets, type ProviderId } from './presets/all.ts'

export type { Preset } from './preset.ts'
export { signedBy } from './testing/signed-request.ts'
export { presets, type ProviderId } from './presets/all.ts'

export interface ListedProvider {
  /** Its name in `providers`, with which its events begin. */
  id: ProviderId
  name: string
  /** How its requests are verified, for instance `HMAC-SHA-256`. */
  scheme: string
  /** The provider's own page. */
  docs: string
  /** What the row was checked against. */
  checked: 'vector' | 'sdk' | 'documentation'
  /** The day of that check. */
  checkedOn: string
  /** What exactly was read: package and version, repository and path, or the page. */
  source: string
}

/** All providers, by their ids. */
export const listProviders = (): ListedProvider[] =>
  (Object.entries(presets) as [ProviderId, Preset][])
    .map(([id, preset]) => {
      const { name, docs, checked, checkedOn, evidence: source } = preset
      return { id, name, scheme: schemeOf(preset), docs, checked, checkedOn, source }
    })
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))

const WORDS: Record<Scheme['algorithm'], string> = {
  'hmac-sha1': 'HMAC-SHA-1',
  'hmac-sha256': 'HMAC-SHA-256',
  'hmac-sha384': 'HMAC-SHA-384',
  'hmac-sha512': 'HMAC-SHA-512',
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  'rsa-sha1': 'RSA-SHA-1',
  'rsa-sha256': 'RSA-SHA-256',
  'ecdsa-sha256': 'ECDSA-P-256',
  ed25519: 'Ed25519',
  jwt: 'JWT',
  token: 'token',
  basic: 'HTTP Basic',
}

/** How the requests of a row are verified, in words. */
function schemeOf({ schemes }: Preset): string {
  const words = schemes.map((scheme) =>
    scheme.algorithm === 'jwt' ? `JWT (${scheme.algorithms.join(', ')})` : WORDS[scheme.algorithm],
  )
  return [...new Set(words)].join(', ')
}
