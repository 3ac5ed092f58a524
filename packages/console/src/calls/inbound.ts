import type { InboundFilter } from '@svc/webhooks'
import { asIs, callsOf, Id, List, pageOf } from './call.ts'

const { reads, changes } = callsOf('webhooks')

type InboundQuery = Omit<InboundFilter, 'bodyBytes'>

/** Bodies of one page, in bytes. */
const PAGE_BYTES = 4 * 1024 * 1024

export const inboundCalls = {
  'inbound.list': reads('inbound:read', List, (input: InboundQuery, { webhooks, masks }) =>
    pageOf(
      input,
      (page) => webhooks.listInbound({ ...page, bodyBytes: PAGE_BYTES }),
      (request) => masks.inbound(request),
      ({ bodyLeftOut }) => bodyLeftOut !== true,
    ),
  ),
  'inbound.replay': changes('inbound:write', Id, async ({ id }: Id, { webhooks }) =>
    asIs(await webhooks.replayInbound(id)),
  ),
}
