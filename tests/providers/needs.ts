/** What the tests give for the options that rows need. */
import { readFileSync } from 'node:fs'
import { chosen } from '../../packages/providers/src/engine/chosen.ts'
import type { Need, Preset } from '../../packages/providers/src/preset.ts'
import { presets, type ProviderId } from '../../packages/providers/src/presets/all.ts'

const pem = (name: string) => readFileSync(new URL(`x5c/${name}.pem`, import.meta.url), 'utf8')

/**
 * A chain as Apple's: `openssl req -x509` for the root, `openssl x509 -req` for the others, with the
 * extensions 1.2.840.113635.100.6.2.1 and 1.2.840.113635.100.6.11.1. They are valid for a century.
 */
export const CHAIN = {
  root: pem('root'),
  intermediate: pem('intermediate'),
  leaf: pem('leaf'),
  leafKey: pem('leaf-key'),
  /** By the same key, without the extension. */
  unmarked: pem('unmarked'),
}

export const ORIGIN = 'https://example.com'

export const NEEDS = {
  publicOrigin: ORIGIN,
  verifyTokenSecretName: 'VERIFY_TOKEN',
  verifyToken: 'a token',
  topicArn: 'arn:aws:sns:eu-west-1:123456789012:orders',
  webhookId: '8PT597110X687430LKGECATA',
  clientId: 'client-1',
  serviceAccount: 'push@acme.iam.gserviceaccount.com',
  audience: `${ORIGIN}/hooks`,
  username: 'sender',
  authUrl: 'https://ep-1.neonauth.eu-west-1.aws.neon.tech/neondb/auth',
  publicKey: 'public_key_1',
  bundleId: 'com.example.app',
} as const

/** Options that a scheme of a row is there for. */
const USED: readonly Need[] = ['username', 'rootCertificates']

/** What a host gives to a row, besides the secret. */
export function needsOf({ needs = [], mayNeed = [] }: Preset): Record<string, unknown> {
  const all: Record<string, unknown> = { ...NEEDS, rootCertificates: [CHAIN.root] }
  const given = [...needs, ...mayNeed.filter((need) => USED.includes(need))]
  return Object.fromEntries(given.map((need) => [need, all[need]]))
}

/** Every row with what a host gives to it in its places. */
export const ROWS: readonly [ProviderId, Preset][] = (
  Object.entries(presets) as [ProviderId, Preset][]
).map(([id, preset]) => [id, chosen(preset, needsOf(preset))])
