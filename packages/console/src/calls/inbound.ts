import { asIs, Id, List, pageOf, type CallsOf } from './call.ts'

export const inboundCalls: CallsOf<'inbound'> = {
  'inbound.list': {
    right: 'inbound:read',
    changes: false,
    needs: 'webhooks',
    input: List,
    run: (input, { webhooks, masks }) =>
      pageOf(
        input,
        (page) => webhooks.listInbound(page),
        (request) => masks.inbound(request),
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
