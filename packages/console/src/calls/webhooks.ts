import { Type } from '@sinclair/typebox'
import type { Webhook, WebhookWithSecret } from '@svc/webhooks'
import { assertMayProbePayloads } from '../access/payload-access.ts'
import { Anything, asIs, Id, List, pageOf, type CallsOf } from './call.ts'

const MASKED = '***'
const OfWebhook = Type.Object(
  { ...List.properties, webhookId: Type.String() },
  { additionalProperties: false },
)

export const webhookCalls: CallsOf<'webhooks'> = {
  'webhooks.list': {
    right: 'webhooks:read',
    changes: false,
    needs: 'webhooks',
    input: List,
    run: (input, { webhooks }) => pageOf(input, (page) => webhooks.list(page), asIs),
  },
  'webhooks.count': {
    right: 'webhooks:read',
    changes: false,
    needs: 'webhooks',
    input: Anything,
    run: (input, { webhooks }) => webhooks.count(input),
  },
  'webhooks.get': {
    right: 'webhooks:read',
    changes: false,
    needs: 'webhooks',
    input: Id,
    run: async ({ id }, { webhooks }) => withoutSecrets(await webhooks.get(id)),
  },
  'webhooks.secrets': {
    // The secret allows its holder to sign deliveries.
    right: 'webhooks:write',
    changes: false,
    needs: 'webhooks',
    input: Id,
    async run({ id }, { webhooks }) {
      const { secret, headers } = await webhooks.get(id)
      return { secret, headers }
    },
  },
  'webhooks.create': {
    right: 'webhooks:write',
    changes: true,
    needs: 'webhooks',
    input: Anything,
    run: (input, { webhooks }) => webhooks.register(input),
  },
  'webhooks.update': {
    right: 'webhooks:write',
    changes: true,
    needs: 'webhooks',
    input: Anything,
    run: (input, { webhooks }) => webhooks.update(input),
  },
  'webhooks.delete': {
    right: 'webhooks:write',
    changes: true,
    needs: 'webhooks',
    input: Id,
    async run({ id }, { webhooks }) {
      await webhooks.delete(id)
      return {}
    },
  },
  'webhooks.rotateSecret': {
    right: 'webhooks:write',
    changes: true,
    needs: 'webhooks',
    input: Anything,
    async run(input, { webhooks }) {
      const { secret } = await webhooks.rotateSecret(input)
      return { secret }
    },
  },
  'webhooks.test': {
    right: 'webhooks:write',
    changes: true,
    needs: 'webhooks',
    input: Anything,
    run: (input, { webhooks }) => webhooks.test(input),
  },
  'webhooks.recover': {
    right: 'deliveries:write',
    changes: true,
    needs: 'webhooks',
    input: Anything,
    run: (input, { webhooks }) => webhooks.recover(input),
  },
  'webhooks.recoveries': {
    right: 'deliveries:read',
    changes: false,
    needs: 'webhooks',
    input: OfWebhook,
    run: (input, { webhooks }) => pageOf(input, (page) => webhooks.listRecoveries(page), asIs),
  },
  'webhooks.tryFilter': {
    right: 'events:read',
    changes: false,
    needs: 'webhooks',
    input: Anything,
    async run(input, { webhooks, masks, identity }) {
      assertMayProbePayloads(identity, masks)
      return { events: await webhooks.tryFilter(input) }
    },
  },
}

function withoutSecrets({ secret: _, headers, ...webhook }: WebhookWithSecret): Webhook {
  const names = Object.keys(headers ?? {})
  return { ...webhook, headers: headers && Object.fromEntries(names.map((name) => [name, MASKED])) }
}
