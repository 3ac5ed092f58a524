import { InvalidOption } from '@svc/core'
import {
  isBoolean,
  isEventName,
  isFunction,
  isString,
  resolveOptions,
  type OptionRules,
} from '@svc/core/internal'
import { assertAnswer } from './reply.ts'
import type { InboundSource } from './source.ts'

/** A source with its name and its defaults filled in. */
export interface Source extends InboundSource {
  name: string
  deduplicationTtlSeconds: number
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
  if (!isString(name) || name.length > 100) {
    throw new InvalidOption(
      'svcWebhooks: the name of a source in "inbound" has 1 to 100 characters',
    )
  }
  const resolved = resolveOptions<Omit<Source, 'name'>>(
    'svcWebhooks',
    rules,
    source,
    `inbound.${name}.`,
  )
  if (resolved.answer !== undefined) assertAnswer(resolved.answer, `inbound.${name}.answer.`)
  return { ...resolved, name }
}
