/** Applies the host's function `redact` to all payloads that the console sends. */
import type { FastifyBaseLogger } from 'fastify'
import type { Attempt, InboundRequest, RequestOfAttempt } from './contract/webhooks.ts'
import type { ConsoleSettings, PayloadOf } from './options.ts'

const HIDDEN = '***'

export interface Masks {
  /** Whether the host masks anything. */
  areOn: boolean
  of: (payload: unknown, of: PayloadOf) => Shown
  /** An attempt in a list, where its payload is not at hand. */
  listed: (attempt: Attempt) => Attempt
  inbound: (request: InboundRequest) => InboundRequest
  /** Whether a text that was searched for is in what is shown. */
  showsText: (event: SearchedEvent, text: string | undefined) => boolean
}

interface SearchedEvent {
  name: string
  tenant: string | null
  payload?: unknown
}

/** What is shown of a payload, and of the attempts to deliver it. */
export interface Shown {
  payload: unknown
  attempt: (attempt: Attempt) => Attempt
  request: (request: RequestOfAttempt) => RequestOfAttempt
}

export function createMasks(
  redact: ConsoleSettings['redact'],
  log: Pick<FastifyBaseLogger, 'warn'>,
): Masks {
  if (redact === null) return NO_MASKS
  /** `isWhole`: nothing of it is hidden. */
  const masked = (payload: unknown, of: PayloadOf): { payload: unknown; isWhole: boolean } => {
    try {
      const shown: unknown = redact(structuredClone(payload), of)
      if (shown instanceof Promise) {
        shown.catch(() => {})
        throw new TypeError('redact must not be asynchronous')
      }
      const text = JSON.stringify(shown ?? null)
      return { payload: JSON.parse(text), isWhole: text === JSON.stringify(payload) }
    } catch (err) {
      log.warn({ err, event: of.event }, 'the option redact failed; the payload is hidden')
      return { payload: HIDDEN, isWhole: false }
    }
  }
  return {
    areOn: true,
    of: (payload, of) => {
      const shown = masked(payload, of)
      // Where the event is no longer kept, it cannot be determined what an answer repeats of it.
      const isWhole = shown.isWhole && payload !== null
      return isWhole
        ? { payload: shown.payload, attempt: asIs, request: asItIs }
        : { payload: shown.payload, attempt: withoutAnswer, request: withoutContent }
    },
    listed: withoutAnswer,
    inbound: (request) => {
      const { body, event, tenant } = request
      if (body === undefined) return request
      const sent = parsed(body)
      if (sent === undefined) return { ...request, body: HIDDEN }
      return { ...request, body: JSON.stringify(masked(sent.value, { event, tenant }).payload) }
    },
    showsText: ({ name, tenant, payload }, text) =>
      text === undefined ||
      JSON.stringify(masked(payload, { event: name, tenant }).payload)
        .toLowerCase()
        .includes(text.toLowerCase()),
  }
}

const asIs = (attempt: Attempt): Attempt => attempt

/**
 * A receiver may repeat in its answer what it was sent, in an escaping of its own, or a part of it: no
 * search for masked values would find all of them.
 */
const withoutAnswer = ({ responseHeaders: _, ...attempt }: Attempt): Attempt =>
  attempt.responseBody === null
    ? attempt
    : { ...attempt, responseBody: null, responseBodyHidden: true }

const asItIs = (request: RequestOfAttempt): RequestOfAttempt => request

/** By a signature a guess of what is masked could be checked. */
const withoutContent = (request: RequestOfAttempt): RequestOfAttempt => ({
  ...request,
  body: null,
  bodyHidden: true,
  headers: Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      /signature/i.test(name) ? HIDDEN : value,
    ]),
  ),
})

const NO_MASKS: Masks = {
  areOn: false,
  of: (payload) => ({ payload, attempt: asIs, request: asItIs }),
  listed: asIs,
  inbound: (request) => request,
  showsText: () => true,
}

function parsed(body: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(body) }
  } catch {
    return undefined
  }
}
