import { asIs, Id, List, pageOf, type CallsOf } from './call.ts'

/** Bodies of one page, in bytes. */
const PAGE_BYTES = 4 * 1024 * 1024

export const inboundCalls: CallsOf<'inbound'> = {
  'inbound.list': {
    right: 'inbound:read',
    changes: false,
    needs: 'webhooks',
    input: List,
    run: (input, { webhooks, masks }) =>
      pageOf(
        input,
        (page) => webhooks.listInbound({ ...page, bodyBytes: PAGE_BYTES }),
        (request) => masks.inbound(request),
        ({ bodyLeftOut }) => bodyLeftOut !== true,
      ),
  },
  'inbound.replay': {
    right: 'inbound:write',
    changes: true,
    needs: 'webhooks',
    input: Id,
    run: async ({ id }, { webhooks }) => asIs(await webhooks.replayInbound(id)),
  },
}
