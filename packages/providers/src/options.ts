/** The options of a row: what each may be, and which have an effect. */
import { certificateIn } from './engine/x5c.ts'
import type { CertificateText, Need, Preset } from './preset.ts'

/** What an option may be. */
export interface OptionRule {
  /** Ends the sentence "must be …". */
  expects: string
  is: (value: unknown) => boolean
  /** A message quotes a wrong text: for what is never a secret. @default false */
  quoted?: boolean
  required?: boolean
}

export type OptionRules = Record<string, OptionRule>

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Each has one in the name of a secret (`@svc/webhooks`), or in the secret itself. */
export type TextNeed = Exclude<Need, 'verifyTokenSecretName'>

const NEEDS: Record<TextNeed, OptionRule> = {
  publicOrigin: {
    expects: 'scheme, host and port that the provider sends to, such as "https://example.com"',
    is: (value) =>
      isText(value) && URL.parse(value)?.origin !== 'null' && /^https?:\/\/[^/?#]+$/.test(value),
  },
  topicArn: {
    quoted: true,
    expects: 'the ARN of a topic, such as "arn:aws:sns:eu-west-1:123456789012:orders"',
    is: (value) => isText(value) && /^arn:[^:\s]+:sns:[^:\s]+:\d+:[^:\s]+$/.test(value),
  },
  webhookId: { expects: 'the id of the webhook at the provider', is: isText },
  clientId: { expects: 'the client id at the provider', is: isText },
  serviceAccount: {
    expects: 'the e-mail address of a service account',
    is: (value) => isText(value) && /^[^@\s]+@[^@\s]+$/.test(value),
  },
  audience: { expects: 'the audience of the JWT', is: isText },
  username: {
    expects: 'a string without a colon',
    is: (value) => isText(value) && !value.includes(':'),
  },
  header: {
    quoted: true,
    expects: 'the name of a header, such as "x-secret"',
    is: (value) => isText(value) && /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(value),
  },
  region: {
    quoted: true,
    expects: 'one of "eu", "eu2", "sandbox"',
    is: (value) => ['eu', 'eu2', 'sandbox'].includes(value as string),
  },
  authUrl: {
    quoted: true,
    expects: 'the https URL of the server, such as "https://example.com/neondb/auth"',
    is: (value) => isText(value) && /^https:\/\/[A-Za-z0-9.-]+(?:\/[\w.~/-]*[\w.~-])?$/.test(value),
  },
  publicKey: {
    expects: 'the public key at the provider',
    is: (value) => isText(value) && /^[A-Za-z0-9_-]+$/.test(value),
  },
  bundleId: {
    quoted: true,
    expects: 'the bundle id of the app, such as "com.example.app"',
    is: isText,
  },
  appAppleId: {
    quoted: true,
    expects: 'the id of the app in the store, a number',
    is: (value) => /^\d{1,18}$/.test(String(value)),
  },
  rootCertificates: {
    expects: 'a certificate in PEM, base64 or bytes (DER), or a list of them',
    is: (value) => {
      const all = [value].flat() as CertificateText[]
      try {
        return all.length > 0 && all.map(certificateIn).length > 0
      } catch {
        return false
      }
    },
  },
}

/** @param verifyToken the option with the secret that a handshake must show, or its name */
export function rulesOf(
  { needs = [], mayNeed = [] }: Preset,
  verifyToken: OptionRules,
): OptionRules {
  const ruleOf = (need: Need, required: boolean): OptionRules =>
    need === 'verifyTokenSecretName'
      ? Object.fromEntries(
          Object.entries(verifyToken).map(([name, rule]) => [name, { ...rule, required }]),
        )
      : { [need]: { ...NEEDS[need], required } }
  return Object.assign(
    {},
    ...needs.map((need) => ruleOf(need, true)),
    ...mayNeed.map((need) => ruleOf(need, false)),
    {
      toleranceSeconds: {
        expects: 'a number of at least 0 (seconds)',
        is: (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
      },
      onHandshake: {
        expects: 'a function (secret, request)',
        is: (value: unknown) => typeof value === 'function',
      },
    },
  ) as OptionRules
}

/** Why an option of a row has no effect; `undefined` where each that is given has one. */
export function vainOption(
  { name, schemes, handshakes = [] }: Preset,
  given: { toleranceSeconds?: unknown; onHandshake?: unknown },
): { option: string; why: string } | undefined {
  if (given.toleranceSeconds !== undefined && !schemes.some(hasTime)) {
    return { option: 'toleranceSeconds', why: `${name} signs no time that could be judged` }
  }
  if (given.onHandshake !== undefined && !handshakes.some(({ store }) => store !== undefined)) {
    return { option: 'onHandshake', why: `${name} sends no secret with a handshake` }
  }
  return undefined
}

const hasTime = (scheme: Preset['schemes'][number]): boolean =>
  (scheme.algorithm === 'jwt' && (scheme.timeless !== true || scheme.time !== undefined)) ||
  ('timestamp' in scheme && scheme.timestamp !== undefined)
