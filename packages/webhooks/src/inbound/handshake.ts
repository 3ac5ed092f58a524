import type { Outside } from './outside.ts'
import { replyOf, type Reply } from './reply.ts'
import type { RequestSecrets } from './request-secrets.ts'
import type { InboundRequest, Respond } from './source.ts'

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
): Promise<Reply | null> {
  if (!respond) return null
  const reply: unknown =
    (await secrets.call(respond, (secret) => respond(request, body, secret, outside))) ?? null
  return reply === null ? null : replyOf(reply)
}
