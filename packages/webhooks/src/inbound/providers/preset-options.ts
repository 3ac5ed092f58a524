/** The options of a preset: what each may be, and which have an effect. */
import { InvalidOption } from '@svc/core'
import { isFunction, isString, type OptionRule, type OptionRules } from '@svc/core/internal'
import { SECRET_NAME } from '../verify/secret-names.ts'
import { answererOf } from './engine/handshakes.ts'
import type { Need, Preset } from './preset.ts'

const NEEDS: Record<Need, OptionRule> = {
  publicOrigin: {
    expects: 'scheme, host and port that the provider sends to, such as "https://example.com"',
    is: (value) =>
      typeof value === 'string' &&
      URL.parse(value)?.origin !== 'null' &&
      /^https?:\/\/[^/?#]+$/.test(value),
  },
  verifyTokenSecretName: { expects: 'the name of a secret', is: isString },
  topicArn: {
    quoted: true,
    expects: 'the ARN of a topic, such as "arn:aws:sns:eu-west-1:123456789012:orders"',
    is: (value) => typeof value === 'string' && /^arn:[^:\s]+:sns:[^:\s]+:\d+:[^:\s]+$/.test(value),
  },
  webhookId: { expects: 'the id of the webhook at the provider', is: isString },
  clientId: { expects: 'the client id at the provider', is: isString },
  serviceAccount: {
    expects: 'the e-mail address of a service account',
    is: (value) => typeof value === 'string' && /^[^@\s]+@[^@\s]+$/.test(value),
  },
  audience: { expects: 'the audience of the JWT', is: isString },
  username: {
    expects: 'a string without a colon',
    is: (value) => isString(value) && !String(value).includes(':'),
  },
}

/** @param overrides fields of the source; their values are checked there: see sources.ts */
export function rulesOf(
  { secret, needs = [], mayNeed = [] }: Preset,
  overrides: readonly string[],
): OptionRules {
  const any = { expects: 'a field of a source', is: () => true }
  return {
    path: { expects: 'a URL path such as "/hooks/github"', is: isString, required: true },
    ...(secret !== null && { secretName: SECRET_NAME }),
    ...Object.fromEntries(needs.map((need) => [need, { ...NEEDS[need], required: true }])),
    ...Object.fromEntries(mayNeed.map((need) => [need, NEEDS[need]])),
    toleranceSeconds: {
      expects: 'a number of at least 0 (seconds)',
      is: (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
    },
    onHandshake: { expects: 'a function (secret, request)', is: isFunction },
    ...Object.fromEntries(overrides.map((name) => [name, any])),
  }
}

interface Given {
  toleranceSeconds?: unknown
  onHandshake?: unknown
  verify?: unknown
  respond?: unknown
  respondUnverified?: unknown
}

/** @throws InvalidOption for an option without effect: the host relies on it */
export function assertUsed(
  id: string,
  { name, schemes, handshakes = [] }: Preset,
  given: Given,
): void {
  const { toleranceSeconds, onHandshake, verify } = given
  if (toleranceSeconds !== undefined && verify !== undefined) {
    throw without(id, 'toleranceSeconds', 'it is for the verification that "verify" replaces')
  }
  if (toleranceSeconds !== undefined && !schemes.some(hasTime)) {
    throw without(id, 'toleranceSeconds', `${name} signs no time that could be judged`)
  }
  if (onHandshake === undefined) return
  const [storing] = handshakes.filter(({ store }) => store !== undefined)
  if (!storing) throw without(id, 'onHandshake', `${name} sends no secret with a handshake`)
  const answerer = answererOf(storing)
  if (given[answerer] === undefined) return
  throw without(id, 'onHandshake', `it is for the handshake that your "${answerer}" answers`)
}

const hasTime = (scheme: Preset['schemes'][number]): boolean =>
  scheme.algorithm === 'jwt' || ('timestamp' in scheme && scheme.timestamp !== undefined)

const without = (id: string, option: string, why: string): Error =>
  new InvalidOption(
    `providers.${id}: the option "${option}" has no effect, as ${why}: leave it out`,
  )
