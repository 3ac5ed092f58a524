import type { Outside } from './outside.ts'
import type { RequestSecrets } from './request-secrets.ts'
import { SourceMistake } from './source-mistake.ts'
import type { InboundReply, InboundRequest, Respond } from './source.ts'

const FIELDS = new Set(['statusCode', 'headers', 'body'])

/**
 * The reply of a source's function, or `null`.
 *
 * @throws SourceMistake for anything else: it would be sent as an empty 200, and the sender would wait
 *   for its challenge
 */
export async function handshake(
  respond: Respond | undefined,
  request: InboundRequest,
  body: string,
  secrets: RequestSecrets,
  outside: Outside,
): Promise<InboundReply | null> {
  if (!respond) return null
  const reply: unknown =
    (await secrets.call(respond, (secret) => respond(request, body, secret, outside))) ?? null
  if (reply === null) return null
  if (typeof reply !== 'object' || !Object.keys(reply).every((field) => FIELDS.has(field))) {
    throw new SourceMistake('respond must return { statusCode?, headers?, body? }, or null')
  }
  return reply
}
