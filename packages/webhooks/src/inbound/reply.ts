/**
 * What a source answers, checked before it is sent: the error of Fastify for a wrong reply would
 * not say which field is wrong.
 */
import {
  isIntegerFrom,
  isPlainObject,
  kindOf,
  resolveOptions,
  type OptionRules,
} from '@svc/core/internal'
import { HostMistake } from '@svc/providers/internal'
import type { InboundReply } from './source.ts'

/** An `import` of node:http would load Node's fetch, as core's http/status-text.ts says. */
const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http')

/** A reply with its body as the text that is sent. */
export interface Reply {
  statusCode: number
  headers: Record<string, string>
  /** @default no body */
  text?: string
  /** The content type, where `headers` has none. */
  type: string
}

/** The server computes these of the body that it sends. */
const FRAMING = new Set(['content-length', 'transfer-encoding'])

const rulesFor = (least: number, most: number): OptionRules => ({
  statusCode: {
    expects: `an integer from ${least} to ${most}`,
    is: isIntegerFrom(least, most),
  },
  headers: {
    expects:
      'an object of header names and strings without line ends, without content-length and transfer-encoding',
    is: (value) => isPlainObject(value) && Object.entries(value).every(isHeader),
  },
  body: { expects: 'a string, or a value that JSON can hold', is: (value) => isSendable(value) },
})

/** A sender takes anything but a 2xx for a failure, and sends the event again. */
const ACCEPTING = rulesFor(200, 299)
const ANY = rulesFor(200, 599)

/** Checks the option `answer` of a source. @throws InvalidOption naming the field */
export function assertAnswer(answer: unknown, path: string): void {
  resolveOptions('svcWebhooks', ACCEPTING, answer, path)
}

/** Checks what `respond` returned. @throws HostMistake naming the field */
export function replyOf(given: unknown): Reply {
  if (!isPlainObject(given) || !Object.keys(given).every((field) => Object.hasOwn(ANY, field))) {
    throw mistake(`not ${kindOf(given)}`)
  }
  for (const [field, { expects, is }] of Object.entries(ANY)) {
    const value = given[field]
    if (value === undefined || is?.(value)) continue
    throw mistake(`and its ${field} must be ${expects}, not ${kindOf(value)}`)
  }
  return textReply(given)
}

const mistake = (problem: string): Error =>
  new HostMistake(`respond must return { statusCode?, headers?, body? } or null, ${problem}`)

/** @param reply one that was checked */
export function textReply({ statusCode = 200, headers = {}, body }: InboundReply): Reply {
  const reply = { statusCode, headers: { ...headers }, type: 'text/plain; charset=utf-8' }
  if (body === undefined) return reply
  if (typeof body === 'string') return { ...reply, text: body }
  return { ...reply, text: JSON.stringify(body), type: 'application/json; charset=utf-8' }
}

function isHeader([name, value]: [string, unknown]): boolean {
  if (typeof value !== 'string' || FRAMING.has(name.toLowerCase())) return false
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

function isSendable(body: unknown): boolean {
  try {
    return typeof body === 'string' || JSON.stringify(body) !== undefined
  } catch {
    return false
  }
}
