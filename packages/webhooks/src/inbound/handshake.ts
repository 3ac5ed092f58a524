import type { SecretsOfRequest } from './secrets-of-request.ts'
import type { InboundReply, InboundRequest } from './source.ts'
import type { Source } from './sources.ts'

const FIELDS = new Set(['statusCode', 'headers', 'body'])

/**
 * What the source's `respond` answers, or `null`.
 *
 * @throws TypeError for anything that is no reply: it would be sent as an empty 200, and the sender
 *   would wait for its challenge
 */
export async function handshake(
  { respond }: Source,
  request: InboundRequest,
  body: string,
  secrets: SecretsOfRequest,
): Promise<InboundReply | null> {
  if (!respond) return null
  const reply: unknown =
    (await secrets.call(respond, (secret) => respond(request, body, secret))) ?? null
  if (reply === null) return null
  if (typeof reply !== 'object' || !Object.keys(reply).every((field) => FIELDS.has(field))) {
    throw new TypeError('respond must return { statusCode?, headers?, body? }, or null')
  }
  return reply
}
