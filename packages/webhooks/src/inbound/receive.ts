import { Unavailable } from '@svc/core'
import {
  checkedHostEventName,
  isConnectionError,
  isContention,
  type AttachedRow,
  type Core,
} from '@svc/core/internal'
import { bodyText } from './body-text.ts'
import {
  BodyNotJson,
  CharsetUnsupported,
  ContentEncodingUnsupported,
  ContentTypeUnexpected,
  InboundFailed,
  NoHandshake,
  NotVerified,
  TooManyFields,
} from './errors.ts'
import { handshake } from './handshake.ts'
import { calling, errorOf, noteThrower } from './host-functions.ts'
import { NotFetched, type ProviderClient } from './provider-client.ts'
import { payloadOf } from './payload.ts'
import { recordProgress } from './request-progress.ts'
import type { RequestLog } from './request-log.ts'
import type { Reply } from './reply.ts'
import { RequestSecrets } from './request-secrets.ts'
import type { InboundRequest } from './source.ts'
import type { Source } from './sources.ts'
import { planOf, type Plan } from './events-of-request.ts'
import { forgetReason, reasonOf } from './verify/checks.ts'

/** The result of a verified request. */
export type Received =
  | { outcome: 'accepted'; eventId: string | null; eventIds?: string[] }
  | { outcome: 'duplicate' }
  | { outcome: 'answered'; reply: Reply }

/** The other arguments of `receive`, besides the source and the request. */
export interface Receiving {
  core: Pick<Core, 'svc' | 'bus' | 'errorText'>
  providerClient: ProviderClient
  log: RequestLog | null
}

/**
 * Receives a POST: verifies it, then publishes it unless it is a repeat. When this returns, the event
 * is committed.
 *
 * @throws NotVerified, BodyNotJson, TooManyFields, ContentEncodingUnsupported, CharsetUnsupported,
 *   ContentTypeUnexpected, InboundFailed or Unavailable, each with the reason as its `cause`
 */
export async function receive(
  receiving: Receiving,
  source: Source,
  request: InboundRequest,
  began = performance.now(),
): Promise<Received> {
  const checked = await check(receiving, source, request)
  if ('outcome' in checked) return checked
  const attachedRow = receiving.log?.attachedRow(source, request, began, checked)
  try {
    return await publish(receiving, source, checked, attachedRow)
  } catch (error) {
    recordProgress(request, { verified: true, plan: checked })
    throw isConnectionError(error) || isContention(error)
      ? new Unavailable({ cause: error })
      : new InboundFailed({ cause: error })
  }
}

/** Everything before the database: returns what to publish, or the reply to a handshake. */
async function check(
  { core, providerClient }: Receiving,
  source: Source,
  request: InboundRequest,
): Promise<Plan | (Received & { outcome: 'answered' })> {
  const secrets = new RequestSecrets((name) => core.svc.secrets.get(name), request)
  let verified = false
  try {
    const body = bodyText(request, source.readAs)
    const first = await handshake(
      source,
      'respondUnverified',
      request,
      body,
      secrets,
      providerClient,
    )
    if (first !== null) {
      secrets.assertFound()
      return { outcome: 'answered', reply: first }
    }
    await verify(source, request, body, secrets, providerClient)
    verified = true
    const json = payloadOf(request, body, source.readAs)
    const reply = await handshake(source, 'respond', request, body, secrets, providerClient)
    if (reply === null) return planOf(source, request, body, json)
    recordProgress(request, { verified, plan: null })
    return { outcome: 'answered', reply }
  } catch (error) {
    recordProgress(request, { verified, plan: null })
    throw failure(error, secrets)
  }
}

/** Receives a GET, which can only be a handshake: `respond` itself verifies what needs it. */
export async function receiveGet(
  { core, providerClient }: Receiving,
  source: Source,
  request: InboundRequest,
): Promise<Received> {
  const secrets = new RequestSecrets((name) => core.svc.secrets.get(name), request)
  try {
    const reply = await handshake(source, 'respond', request, '', secrets, providerClient)
    secrets.assertFound()
    if (reply === null) throw new NoHandshake({ cause: 'respond returned null' })
    return { outcome: 'answered', reply }
  } catch (error) {
    throw failure(error, secrets)
  }
}

async function verify(
  source: Source,
  request: InboundRequest,
  body: string,
  secrets: RequestSecrets,
  providerClient: ProviderClient,
): Promise<void> {
  const verdict: unknown = await calling('verify', () =>
    secrets.call(source.verify, (secret) => {
      forgetReason(request)
      return source.verify(request, body, secret, providerClient)
    }),
  )
  // Also where the verdict is `true`: without the secret it proves nothing.
  secrets.assertFound()
  if (verdict === true) return
  const returned = verdict === false ? 'false' : `a value of type ${typeof verdict}`
  throw new NotVerified({ cause: reasonOf(request) ?? `verify returned ${returned}` })
}

/** Deduplication keys and events are committed together: a failed publish uses up no key. */
async function publish(
  { core }: Receiving,
  source: Source,
  { events, tenant }: Plan,
  attachedRow: AttachedRow | undefined,
): Promise<Received> {
  const results = await core.bus.publish(
    events.map(({ name, json, deduplicationKey }) => ({
      name: checkedHostEventName(name),
      payload: json,
      tenant,
      deduplicationKey,
    })),
    { attachedRow },
  )
  const eventIds = results.flatMap((result) => result?.id ?? [])
  const [eventId] = eventIds
  if (eventId === undefined && results.length > 0) return { outcome: 'duplicate' }
  const accepted = { outcome: 'accepted' as const, eventId: eventId ?? null }
  return source.split ? { ...accepted, eventIds } : accepted
}

/** Anything that is not the sender's fault is a 500, so that the sender tries again. */
function failure(thrown: unknown, secrets: RequestSecrets): Error {
  const error = errorOf(thrown)
  if (error instanceof NotFetched) return new NotVerified({ cause: error.message })
  if (
    error instanceof NotVerified ||
    error instanceof BodyNotJson ||
    error instanceof ContentTypeUnexpected ||
    error instanceof TooManyFields ||
    error instanceof CharsetUnsupported ||
    error instanceof ContentEncodingUnsupported ||
    error instanceof NoHandshake
  ) {
    return error
  }
  return new InboundFailed({ cause: secrets.leaksInto(textOf(error)) ? withheld(error) : error })
}

const textOf = ({ message, stack }: Error): string => `${message}\n${stack}`

function withheld(error: Error): Error {
  const safe = new Error(`${error.name}: its message is withheld because it quotes a secret`)
  noteThrower(safe, error)
  return safe
}
