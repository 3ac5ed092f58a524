import { Unavailable } from '@svc/core'
import { isConnectionError, type Core } from '@svc/core/internal'
import { claimOf, deduplicationKey } from './deduplicate.ts'
import { BodyNotJson, InboundFailed, NoHandshake, NotVerified, TooManyFields } from './errors.ts'
import { handshake } from './handshake.ts'
import { payloadText } from './payload.ts'
import { SecretsOfRequest } from './secrets-of-request.ts'
import type { InboundReply, InboundRequest } from './source.ts'
import type { Source } from './sources.ts'
import { forgetRefusal, refusalOf } from './verify/refusal.ts'

/** What became of a request that was taken. */
export type Receipt =
  | { outcome: 'accepted'; eventId: string }
  | { outcome: 'duplicate' }
  | { outcome: 'answered'; reply: InboundReply }

interface Taken {
  json: string
  key: string | null
}

/**
 * A POST: verified, then deduplicated, then published. When this returns, the event is committed.
 *
 * @throws NotVerified, BodyNotJson, TooManyFields, InboundFailed or Unavailable, each with the reason as its `cause`
 */
export async function receive(
  core: Core,
  source: Source,
  request: InboundRequest,
): Promise<Receipt> {
  const taken = await take(core, source, request)
  if ('outcome' in taken) return taken
  try {
    return await publishOnce(core, source, taken)
  } catch (error) {
    throw isConnectionError(error)
      ? new Unavailable({ cause: error })
      : new InboundFailed({ cause: error })
  }
}

/** A genuine request's way up to the database: what is to be published, or the answer to a handshake. */
async function take(
  core: Core,
  source: Source,
  request: InboundRequest,
): Promise<Taken | (Receipt & { outcome: 'answered' })> {
  const secrets = new SecretsOfRequest((name) => core.svc.secrets.get(name))
  const body = request.rawBody.toString('utf8')
  try {
    await verify(source, request, body, secrets)
    const json = payloadText(request.headers['content-type'], request.rawBody)
    const reply = await handshake(source, request, body, secrets)
    if (reply !== null) return { outcome: 'answered', reply }
    return { json, key: deduplicationKey(source, request, body) }
  } catch (error) {
    throw failure(error, secrets)
  }
}

/** A GET, which only a handshake is: nothing is verified but by `respond` itself. */
export async function receiveGet(
  core: Core,
  source: Source,
  request: InboundRequest,
): Promise<Receipt> {
  const secrets = new SecretsOfRequest((name) => core.svc.secrets.get(name))
  try {
    const reply = await handshake(source, request, '', secrets)
    secrets.assertFound()
    if (reply === null) throw new NoHandshake({ cause: 'respond gave no answer' })
    return { outcome: 'answered', reply }
  } catch (error) {
    throw failure(error, secrets)
  }
}

async function verify(
  source: Source,
  request: InboundRequest,
  body: string,
  secrets: SecretsOfRequest,
): Promise<void> {
  const verdict: unknown = await secrets.call(source.verify, (secret) => {
    forgetRefusal(request)
    return source.verify(request, body, secret)
  })
  // Also where the verdict is `true`: it cannot have been reached with the key that was asked for.
  secrets.assertFound()
  if (verdict === true) return
  const answer = verdict === false ? 'false' : `a value of type ${typeof verdict}`
  throw new NotVerified({ cause: refusalOf(request) ?? `verify answered ${answer}` })
}

/** The claim of the key and the event stand or fall together: a failed publish burns no key. */
async function publishOnce(core: Core, source: Source, { json, key }: Taken): Promise<Receipt> {
  if (key === null) {
    const { id } = await core.bus.publishText(source.publishAs, json)
    return { outcome: 'accepted', eventId: id }
  }
  const published = await core.bus.publishOnce(source.publishAs, json, claimOf(source, key))
  if (published === null) return { outcome: 'duplicate' }
  return { outcome: 'accepted', eventId: published.id }
}

/** What is not the sender's fault is a 500, so that it tries again. */
function failure(error: unknown, secrets: SecretsOfRequest): Error {
  if (
    error instanceof NotVerified ||
    error instanceof BodyNotJson ||
    error instanceof TooManyFields ||
    error instanceof NoHandshake
  ) {
    return error
  }
  return new InboundFailed({ cause: secrets.isQuotedIn(textOf(error)) ? withheld(error) : error })
}

const textOf = (error: unknown): string =>
  error instanceof Error ? `${error.message}\n${error.stack}` : String(error)

function withheld(error: unknown): Error {
  const kind = error instanceof Error ? error.name : typeof error
  return new Error(`${kind}, whose message is withheld because it quotes a secret`)
}
