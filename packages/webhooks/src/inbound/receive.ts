/** The steps of an inbound request, in their order: each takes an {@link Inbound} and adds to it. */
import { Unavailable } from '@svc/core'
import {
  checkedHostEventName,
  isTenant,
  TENANT,
  whyNotNow,
  type Core,
  type DeduplicationKey,
} from '@svc/core/internal'
import {
  BodyRefused,
  bodyText,
  HostMistake,
  payloadByType,
  Refused,
  type ProviderClient,
} from '@svc/providers/internal'
import { extractKey, storedKey, type Scope } from './deduplication-key.ts'
import { InboundFailed, isRefusal, NoHandshake, NotVerified, refusalOfBody } from './errors.ts'
import { errorOf, type Inbound } from './inbound.ts'
import { replyOf, type Reply } from './reply.ts'
import type { RequestLog } from './request-log.ts'
import { idOfSample } from './sample.ts'
import type { Source } from './sources.ts'

/** The result of a verified request. */
export type Received =
  | { outcome: 'accepted'; eventId: string | null; eventIds?: string[] }
  | { outcome: 'duplicate' }
  | { outcome: 'answered'; reply: Reply }

/** What all requests are received with. */
export interface Receiving {
  core: Pick<Core, 'svc' | 'bus' | 'errorText'>
  providerClient: ProviderClient
  log: RequestLog | null
}

/**
 * Receives a POST: verifies it, then publishes it unless it is a repeat. When this returns, the event
 * is committed.
 *
 * @throws a refusal of errors.ts, InboundFailed or Unavailable, each with the reason as its `cause`
 */
export async function receive(receiving: Receiving, inbound: Inbound): Promise<Received> {
  let reply: Reply | null
  try {
    readBody(inbound)
    reply = await answer(inbound, 'respondUnverified', receiving)
    if (reply === null) {
      await verify(inbound, receiving)
      const json = payloadOf(inbound)
      reply = await answer(inbound, 'respond', receiving)
      if (reply === null) inbound.plan = planOf(inbound, json)
    } else inbound.secrets.assertFound()
  } catch (error) {
    throw failure(error, inbound)
  }
  return reply === null ? publish(inbound, receiving) : { outcome: 'answered', reply }
}

/** Receives a GET, which can only be a handshake: `respond` itself verifies what needs it. */
export async function receiveGet(receiving: Receiving, inbound: Inbound): Promise<Received> {
  try {
    const reply = await answer(inbound, 'respond', receiving)
    inbound.secrets.assertFound()
    if (reply === null) throw new NoHandshake({ cause: 'respond returned null' })
    return { outcome: 'answered', reply }
  } catch (error) {
    throw failure(error, inbound)
  }
}

export function readBody(inbound: Inbound): void {
  const { source, request } = inbound
  inbound.as(bodyText(request, request.rawBody, source.readAs === 'json'))
}

/**
 * The reply of a source's function, or `null`.
 *
 * @throws HostMistake for anything else: it would be sent as an empty 200, and the sender would wait
 *   for its challenge
 */
async function answer(
  inbound: Inbound,
  field: 'respond' | 'respondUnverified',
  { providerClient }: Receiving,
): Promise<Reply | null> {
  const { source, request, body } = inbound
  const respond = source[field]
  if (!respond) return null
  const reply: unknown =
    (await inbound.asking(field, (secret) => respond(request, body, secret, providerClient))) ??
    null
  return reply === null ? null : replyOf(reply)
}

async function verify(inbound: Inbound, { providerClient }: Receiving): Promise<void> {
  const { source, request, body } = inbound
  const verdict: unknown = await inbound.asking('verify', (secret) => {
    inbound.reason = undefined
    return source.verify(request, body, secret, providerClient)
  })
  // Also where the verdict is `true`: without the secret it proves nothing.
  inbound.secrets.assertFound()
  if (verdict !== true) {
    const returned = verdict === false ? 'false' : `a value of type ${typeof verdict}`
    throw new NotVerified({ cause: inbound.reason ?? `verify returned ${returned}` })
  }
  inbound.isVerified = true
}

/** The payload of the body, as JSON text. */
export function payloadOf(inbound: Inbound): string {
  const { source, request, body } = inbound
  const { readAs } = source
  if (typeof readAs !== 'function') return payloadByType(inbound, readAs === 'json')
  const json: unknown = inbound.calling('readAs', () => readAs(request, body))
  if (typeof json === 'string') return json
  throw new HostMistake(`readAs must return JSON text, not a value of type ${typeof json}`)
}

export interface ToPublish {
  name: string
  /** The payload, as JSON text. */
  json: string
  deduplicationKey: DeduplicationKey | null
}

/** One event, or one for each item of a batch. */
export interface Plan {
  tenant: string | null
  events: ToPublish[]
  /** The name of each item's event, in their order; `null` for an item that repeats another. */
  names: (string | null)[]
}

/** @param json the payload of the body */
export function planOf(inbound: Inbound, json: string): Plan {
  const tenant = tenantOf(inbound)
  const scope = { tenant, params: (inbound.request.params as object | undefined) ?? {} }
  const items = itemsOf(inbound, json)
  if (items === null) {
    const event = eventOf(inbound, json, scope)
    return { tenant, events: [event], names: [event.name] }
  }
  const events = withoutRepeats(
    items.map((item) => eventOf(inbound, JSON.stringify(item ?? null), scope, item)),
  )
  return {
    tenant,
    events: events.filter((event) => event !== null),
    names: events.map((event) => event && event.name),
  }
}

/** The items of a batch; `null` where the body is one event. */
export function itemsOf(inbound: Inbound, json: string): unknown[] | null {
  const { split } = inbound.source
  if (!split) return null
  const items: unknown = inbound.calling('split', () => split(JSON.parse(json)))
  if (!Array.isArray(items)) {
    throw new HostMistake(`split must return a list, not a value of type ${typeof items}`)
  }
  const missing = items.findIndex((item) => item === undefined)
  if (missing === -1) return items
  throw new HostMistake(`split must return a list of items, and its element [${missing}] is none`)
}

/** A batch that holds an item twice publishes it once, as two requests would: the others are `null`. */
function withoutRepeats(events: ToPublish[]): (ToPublish | null)[] {
  const seen = new Set<string>()
  return events.map((event) => {
    const { deduplicationKey } = event
    if (deduplicationKey === null) return event
    const isFirst = !seen.has(deduplicationKey.key)
    seen.add(deduplicationKey.key)
    return isFirst ? event : null
  })
}

function eventOf(
  inbound: Inbound,
  json: string,
  scope: Scope,
  ...item: [item?: unknown]
): ToPublish {
  const { source, request, body } = inbound
  const { publishAs } = source
  const name =
    typeof publishAs === 'string'
      ? publishAs
      : inbound.calling('publishAs', () => publishAs(request, body, ...item))
  const key = extractKey(inbound, ...item)
  return { name, json, deduplicationKey: key === null ? null : storedKey(source, key, scope) }
}

function tenantOf(inbound: Inbound): string | null {
  const { source, request, body } = inbound
  const value: unknown = inbound.calling('tenant', () => source.tenant?.(request, body)) ?? null
  if (value === null || isTenant(value)) return value
  throw new HostMistake(`tenant must return ${TENANT}, or null`)
}

/** Deduplication keys and events are committed together: a failed publish uses up no key. */
async function publish(inbound: Inbound, { core, log }: Receiving): Promise<Received> {
  const { source, plan } = inbound
  const { events, tenant } = plan as Plan
  try {
    const attachedRow = log?.attachedRow(inbound)
    const results = await core.bus.publish(
      events.map(({ name, json, deduplicationKey }) => ({
        name: checkedHostEventName(name),
        id: idOfSample(),
        payload: json,
        tenant,
        deduplicationKey,
      })),
      { attachedRow },
    )
    return outcomeOf(source, results)
  } catch (error) {
    const why = whyNotNow(error)
    throw why === undefined
      ? new InboundFailed({ cause: error })
      : Object.assign(new Unavailable({ cause: error }), { message: why })
  }
}

function outcomeOf(source: Source, results: readonly ({ id: string } | null)[]): Received {
  const eventIds = results.flatMap((result) => result?.id ?? [])
  const [eventId] = eventIds
  if (eventId === undefined && results.length > 0) return { outcome: 'duplicate' }
  const accepted = { outcome: 'accepted' as const, eventId: eventId ?? null }
  return source.split ? { ...accepted, eventIds } : accepted
}

/** Anything that is not the sender's fault is a 500, so that the sender tries again. */
function failure(thrown: unknown, inbound: Inbound): Error {
  const error = errorOf(thrown)
  if (error instanceof BodyRefused) return refusalOfBody(error)
  if (error instanceof Refused) return new NotVerified({ cause: error.message })
  if (isRefusal(error)) return error
  const leaks = inbound.secrets.leaksInto(`${error.message}\n${error.stack}`)
  return new InboundFailed({ cause: leaks ? inbound.withheld(error) : error })
}
