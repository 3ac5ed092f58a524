import type { ProviderClient } from './provider-client.ts'
import { calling } from './host-functions.ts'
import { replyOf, type Reply } from './reply.ts'
import type { RequestSecrets } from './request-secrets.ts'
import type { InboundRequest } from './source.ts'
import type { Source } from './sources.ts'

/**
 * The reply of a source's function, or `null`.
 *
 * @throws SourceMistake for anything else: it would be sent as an empty 200, and the sender would wait
 *   for its challenge
 */
export async function handshake(
  source: Source,
  field: 'respond' | 'respondUnverified',
  request: InboundRequest,
  body: string,
  secrets: RequestSecrets,
  providerClient: ProviderClient,
): Promise<Reply | null> {
  const respond = source[field]
  if (!respond) return null
  const call = () =>
    secrets.call(respond, (secret) => respond(request, body, secret, providerClient))
  const reply: unknown = (await calling(field, call)) ?? null
  return reply === null ? null : replyOf(reply)
}
