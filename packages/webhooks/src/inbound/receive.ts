import { Unavailable } from '@svc/core'
import { isConnectionError, type Core } from '@svc/core/internal'
import { claimOf, deduplicationKey } from './deduplicate.ts'
import { BodyNotJson, InboundFailed, NoHandshake, NotVerified, TooManyFields } from './errors.ts'
import { handshake } from './handshake.ts'
import { payloadOf } from './payload.ts'
import { RequestSecrets } from './request-secrets.ts'
import type { InboundReply, InboundRequest } from './source.ts'
import type { Source } from './sources.ts'
import { forgetReason, reasonOf } from './verify/checks.ts'

/** What a genuine request led to. */
export type Received =
  | { outcome: 'accepted'; eventId: string }
  | { outcome: 'duplicate' }
  | { outcome: 'answered'; reply: InboundReply }

/** The payload of the event, as JSON text, and the deduplication key. */
interface ToPublish {
  json: string
  key: string | null
}

/**
 * Receives a POST: verifies it, then publishes it unless it is a repeat. When this returns, the event
 * is committed.
 *
 * @throws NotVerified, BodyNotJson, TooManyFields, InboundFailed or Unavailable, each with the
 *   reason as its `cause`
 */
export async function receive(
  core: Core,
  source: Source,
  request: InboundRequest,
): Promise<Received> {
  const checked = await check(core, source, request)
  if ('outcome' in checked) return checked
  try {
    return await publish(core, source, checked)
  } catch (error) {
    throw isConnectionError(error)
      ? new Unavailable({ cause: error })
      : new InboundFailed({ cause: error })
  }
}

/** Everything before the database: returns what to publish, or the reply to a handshake. */
async function check(
  core: Core,
  source: Source,
  request: InboundRequest,
): Promise<ToPublish | (Received & { outcome: 'answered' })> {
  const secrets = new RequestSecrets((name) => core.svc.secrets.get(name))
  const body = request.rawBody.toString('utf8')
  try {
    await verify(source, request, body, secrets)
    const json = payloadOf(request.headers['content-type'], request.rawBody, body)
    const reply = await handshake(source, request, body, secrets)
    if (reply !== null) return { outcome: 'answered', reply }
    return { json, key: deduplicationKey(source, request, body) }
  } catch (error) {
    throw failure(error, secrets)
  }
}

/** Receives a GET, which can only be a handshake: `respond` itself verifies what needs it. */
export async function receiveGet(
  core: Core,
  source: Source,
  request: InboundRequest,
): Promise<Received> {
  const secrets = new RequestSecrets((name) => core.svc.secrets.get(name))
  try {
    const reply = await handshake(source, request, '', secrets)
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
): Promise<void> {
  const verdict: unknown = await secrets.call(source.verify, (secret) => {
    forgetReason(request)
    return source.verify(request, body, secret)
  })
  // Also where the verdict is `true`: without the secret it proves nothing.
  secrets.assertFound()
  if (verdict === true) return
  const returned = verdict === false ? 'false' : `a value of type ${typeof verdict}`
  throw new NotVerified({ cause: reasonOf(request) ?? `verify returned ${returned}` })
}

/** The deduplication key and the event are committed together: a failed publish uses up no key. */
async function publish(core: Core, source: Source, { json, key }: ToPublish): Promise<Received> {
  if (key === null) {
    const { id } = await core.bus.publishText(source.publishAs, json)
    return { outcome: 'accepted', eventId: id }
  }
  const published = await core.bus.publishOnce(source.publishAs, json, claimOf(source, key))
  if (published === null) return { outcome: 'duplicate' }
  return { outcome: 'accepted', eventId: published.id }
}

/** Anything that is not the sender's fault is a 500, so that the sender tries again. */
function failure(error: unknown, secrets: RequestSecrets): Error {
  if (
    error instanceof NotVerified ||
    error instanceof BodyNotJson ||
    error instanceof TooManyFields ||
    error instanceof NoHandshake
  ) {
    return error
  }
  return new InboundFailed({ cause: secrets.leaksInto(textOf(error)) ? withheld(error) : error })
}

const textOf = (error: unknown): string =>
  error instanceof Error ? `${error.message}\n${error.stack}` : String(error)

function withheld(error: unknown): Error {
  const kind = error instanceof Error ? error.name : typeof error
  return new Error(`${kind}: its message is withheld because it quotes a secret`)
}
