import { InvalidOption } from '@svc/core'
import {
  isBoolean,
  isEventName,
  isFunction,
  isStorableText,
  resolveOptions,
  type OptionRules,
} from '@svc/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import { assertAnswer } from './reply.ts'
import type { Expected } from './request-secrets.ts'
import { aboutOf, type InboundSource } from './source.ts'

/** The functions of a source that may ask for secrets. */
export type Asking = 'verify' | 'respond' | 'respondUnverified'

/** A source with its name and its defaults filled in. */
export interface Source extends InboundSource {
  name: string
  deduplicationTtlSeconds: number
  expected: Record<Asking, Expected>
  /** Headers that the log masks, and some that it shows, whatever they are called. In lower case. */
  hides: string[]
  shows: string[]
}

const TEN_YEARS_SECONDS = 10 * 365 * 24 * 3600

const rules: OptionRules = {
  path: {
    quoted: true,
    expects: 'a URL path such as "/hooks/github"',
    is: (value) => typeof value === 'string' && /^\/[^\s?#]*$/.test(value),
    required: true,
  },
  publishAs: {
    quoted: true,
    expects:
      'an event name (1 to 200 letters, digits, "_", ".", "-" or "/", not beginning with "svc."), or a function that returns one',
    is: (value) => isFunction(value) || (isEventName(value) && !value.startsWith('svc.')),
    required: true,
  },
  verify: {
    expects: 'a function such as hmac(…), basicAuth(…), bearerToken(…) or headerToken(…)',
    is: isFunction,
    required: true,
  },
  deduplicationKey: { expects: 'a function (request, body) => string or null', is: isFunction },
  deduplicationTtlSeconds: {
    expects: 'an integer from 1 to 315360000 (seconds, at most ten years)',
    is: (value) =>
      Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= TEN_YEARS_SECONDS,
    default: 86_400,
  },
  split: { expects: 'a function (body) => list of items', is: isFunction },
  tenant: { expects: 'a function (request, body) => string or null', is: isFunction },
  readAs: {
    quoted: true,
    expects: '"json", or a function (request, body) => JSON text',
    is: (value) => value === 'json' || isFunction(value),
  },
  respond: { expects: 'a function (request, body, secret) => reply or null', is: isFunction },
  respondUnverified: {
    expects: 'a function (request, body, secret) => reply or null',
    is: isFunction,
  },
  answer: { expects: 'a reply: { statusCode?, headers?, body? }', is: () => true },
  emptyErrors: { expects: 'true or false', is: isBoolean },
}

/**
 * Checks the sources of the option `inbound` and fills in their defaults.
 *
 * @throws InvalidOption naming the source and the field
 */
export function resolveSources(inbound: unknown): Source[] {
  if (inbound === undefined) return []
  if (typeof inbound !== 'object' || inbound === null || Array.isArray(inbound)) {
    throw new InvalidOption(
      'svcWebhooks: the option "inbound" must be an object of sources by their names',
    )
  }
  const sources = Object.entries(inbound).map(([name, source]) => resolveSource(name, source))
  for (const [place, { name, path }] of sources.entries()) {
    const first = sources.findIndex((other) => other.path === path)
    if (first === place) continue
    throw new InvalidOption(
      `svcWebhooks: the option "inbound.${name}.path" must be a path of its own, "${path}" is that of "inbound.${sources[first]?.name}" already`,
    )
  }
  return sources
}

function resolveSource(name: string, source: unknown): Source {
  if (!isStorableText(name, 100)) {
    throw new InvalidOption(
      'svcWebhooks: the name of a source in "inbound" has 1 to 100 characters, without NUL or half a surrogate pair',
    )
  }
  const resolved = resolveOptions<InboundSource & Pick<Source, 'deduplicationTtlSeconds'>>(
    'svcWebhooks',
    rules,
    source,
    `inbound.${name}.`,
  )
  const { answer, verify, publishAs, deduplicationKey } = resolved
  if (answer !== undefined) assertAnswer(answer, `inbound.${name}.answer.`)
  const expected = (field: Asking): Expected => aboutOf(resolved[field]).secrets ?? []
  const lowerCased = (names: readonly string[] = []) => names.map((one) => one.toLowerCase())
  return {
    ...resolved,
    name,
    expected: {
      verify: expected('verify'),
      respond: expected('respond'),
      respondUnverified: expected('respondUnverified'),
    },
    hides: lowerCased(aboutOf(verify).hides),
    shows: [publishAs, deduplicationKey, verify].flatMap((fn) => lowerCased(aboutOf(fn).shows)),
  }
}

/** Warns at boot. An operator who may send samples can publish any event of the source. */
export function warnOfTestsInProduction(log: FastifyBaseLogger, inboundTests: boolean): void {
  if (!inboundTests || process.env['NODE_ENV'] !== 'production') return
  log.warn(
    { option: 'inboundTests' },
    'inboundTests is on in production, and samples are events as any other: set inboundTests to false there',
  )
}

/** Warns at boot: a host that sets it expects repeats to be recognised, and they are not. */
export function warnOfVainOptions(
  log: FastifyBaseLogger,
  inbound: Readonly<Record<string, InboundSource>> = {},
): void {
  for (const [source, given] of Object.entries(inbound)) {
    if (given.deduplicationTtlSeconds === undefined || given.deduplicationKey) continue
    log.warn(
      { source, option: 'deduplicationTtlSeconds' },
      'the option deduplicationTtlSeconds has no effect without deduplicationKey: requests of this source are not deduplicated',
    )
  }
}
