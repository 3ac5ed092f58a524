/** Applies the host's function `redact` to all payloads that the console sends. */
import type { FastifyBaseLogger } from 'fastify'
import type { Attempt, InboundRequest } from './contract.ts'
import type { ConsoleSettings, PayloadOf } from './options.ts'

const HIDDEN = '***'
/** Shorter values are in every text. */
const SHORTEST_ECHO = 4

export interface Masks {
  /** Whether the host masks anything. */
  areOn: boolean
  of: (of: PayloadOf) => Mask
  /** An attempt in a list, where its payload is not at hand: what the receiver answered is left out. */
  listed: (attempt: Attempt) => Attempt
  inbound: (request: InboundRequest) => InboundRequest
  /** Whether a text that was searched for is in what is shown: what is hidden cannot be guessed. */
  showsText: (event: SearchedEvent, text: string | undefined) => boolean
}

interface SearchedEvent {
  name: string
  tenant: string | null
  payload?: unknown
}

export interface Mask {
  payload: (payload: unknown) => unknown
  /** A receiver may repeat in its answer what it was sent. */
  attempt: (attempt: Attempt, payload: unknown) => Attempt
}

export function createMasks(
  redact: ConsoleSettings['redact'],
  log: Pick<FastifyBaseLogger, 'warn'>,
): Masks {
  if (redact === null) return NO_MASKS
  const masked = (payload: unknown, of: PayloadOf): unknown => {
    try {
      const shown: unknown = redact(structuredClone(payload), of)
      if (shown instanceof Promise) {
        shown.catch(() => {})
        throw new TypeError('redact must not be asynchronous')
      }
      return JSON.parse(JSON.stringify(shown ?? null))
    } catch (err) {
      log.warn({ err, event: of.event }, 'the option redact failed; the payload is hidden')
      return HIDDEN
    }
  }
  return {
    areOn: true,
    of: (of) => ({
      payload: (payload) => masked(payload, of),
      attempt: (attempt, payload) => ({
        ...attempt,
        responseBody:
          attempt.responseBody && withoutEchoes(attempt.responseBody, payload, masked(payload, of)),
      }),
    }),
    listed: (attempt) => ({ ...attempt, responseBody: null }),
    inbound: (request) => {
      const { body, event, tenant } = request
      if (body === undefined) return request
      const shown = parsed(body)
      const of = { event, tenant }
      return {
        ...request,
        body: shown === undefined ? HIDDEN : JSON.stringify(masked(shown.value, of)),
      }
    },
    showsText: ({ name, tenant, payload }, text) =>
      text === undefined ||
      JSON.stringify(masked(payload, { event: name, tenant }))
        .toLowerCase()
        .includes(text.toLowerCase()),
  }
}

const NO_MASKS: Masks = {
  areOn: false,
  of: () => ({ payload: (payload) => payload, attempt: (attempt) => attempt }),
  listed: (attempt) => attempt,
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

/** The text without the values that the mask took out of the payload. */
function withoutEchoes(text: string, payload: unknown, shown: unknown): string {
  const kept = new Set(leavesOf(shown))
  return leavesOf(payload)
    .filter((leaf) => leaf.length >= SHORTEST_ECHO && !kept.has(leaf))
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, leaf) => rest.replaceAll(leaf, HIDDEN), text)
}

/** This does not recurse: a payload may be nested deeper than the stack. */
function leavesOf(value: unknown): string[] {
  const leaves: string[] = []
  const left = [value]
  while (left.length > 0) {
    const one = left.pop()
    if (typeof one === 'string') leaves.push(one, JSON.stringify(one).slice(1, -1))
    else if (typeof one === 'number') leaves.push(String(one))
    else if (typeof one === 'object' && one !== null) {
      for (const child of Object.values(one)) left.push(child)
    }
  }
  return leaves
}
