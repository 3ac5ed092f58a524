import type { RequestSecrets } from './request-secrets.ts'
import type { InboundReply, InboundRequest } from './source.ts'
import type { Source } from './sources.ts'

const FIELDS = new Set(['statusCode', 'headers', 'body'])

/**
 * The reply of the source's `respond`, or `null`.
 *
 * @throws TypeError for anything else: it would be sent as an empty 200, and the sender would wait
 *   for its challenge
 */
export async function handshake(
  { respond }: Source,
  request: InboundRequest,
  body: string,
  secrets: RequestSecrets,
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
