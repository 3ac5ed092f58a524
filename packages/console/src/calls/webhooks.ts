import { Type } from '@sinclair/typebox'
import type {
  CountedWebhooks,
  FilterTrial,
  ListedRecoveries,
  Page as WebhookPage,
  RecoverInput,
  RecoverManyInput,
  RotateSecretInput,
  TestInput,
  Webhook,
  WebhookWithSecret,
} from '@svc/webhooks'
import { assertMayProbePayloads } from '../access/payload-access.ts'
import type { WebhookToCreate, WebhookToUpdate } from '../contract/webhooks.ts'
import { Anything, asIs, callsOf, Id, List, pageOf } from './call.ts'

const { reads, changes } = callsOf('webhooks')

const MASKED = '***'
const OfWebhook = Type.Object(
  { ...List.properties, webhookId: Type.String() },
  { additionalProperties: false },
)

export const webhookCalls = {
  'webhooks.list': reads('webhooks:read', List, (input: WebhookPage, { webhooks }) =>
    pageOf(input, (page) => webhooks.list(page), asIs),
  ),
  'webhooks.count': reads('webhooks:read', Anything, (input: CountedWebhooks, { webhooks }) =>
    webhooks.count(input),
  ),
  'webhooks.get': reads('webhooks:read', Id, async ({ id }: Id, { webhooks }) =>
    withoutSecrets(await webhooks.get(id)),
  ),
  // The secret allows its holder to sign deliveries.
  'webhooks.secrets': reads('webhooks:write', Id, async ({ id }: Id, { webhooks }) => {
    const { secret, headers } = await webhooks.get(id)
    return { secret, headers }
  }),
  /** What whoever writes the receiver has to know, beside the secret. */
  'webhooks.signing': reads('webhooks:read', Id, ({ id }: Id, { webhooks }) =>
    webhooks.signing(id),
  ),
  'webhooks.create': changes('webhooks:write', Anything, (input: WebhookToCreate, { webhooks }) =>
    webhooks.register(input),
  ),
  'webhooks.update': changes('webhooks:write', Anything, (input: WebhookToUpdate, { webhooks }) =>
    webhooks.update(input),
  ),
  'webhooks.delete': changes('webhooks:write', Id, async ({ id }: Id, { webhooks }) => {
    await webhooks.delete(id)
    return {}
  }),
  'webhooks.rotateSecret': changes(
    'webhooks:write',
    Anything,
    async (input: RotateSecretInput, { webhooks }) => {
      const { secret } = await webhooks.rotateSecret(input)
      return { secret }
    },
  ),
  'webhooks.test': changes('webhooks:write', Anything, (input: TestInput, { webhooks }) =>
    webhooks.test(input),
  ),
  /** `id`: of the recovery, which a `dryRun` does not have. */
  'webhooks.recover': changes('deliveries:write', Anything, (input: RecoverInput, { webhooks }) =>
    webhooks.recover(input),
  ),
  /** Over the webhooks of a tenant, or over all within reach. */
  'webhooks.recoverMany': changes(
    'deliveries:write',
    Anything,
    (input: RecoverManyInput, { webhooks }) => webhooks.recoverMany(input),
  ),
  'webhooks.recoveries': reads(
    'deliveries:read',
    OfWebhook,
    (input: ListedRecoveries, { webhooks }) =>
      pageOf(input, (page) => webhooks.listRecoveries(page), asIs),
  ),
  /** Which of the newest events of these names a filter matches: at most 50. */
  'webhooks.tryFilter': reads(
    'events:read',
    Anything,
    async (input: FilterTrial, { webhooks, masks, identity }) => {
      assertMayProbePayloads(identity, masks)
      return { events: await webhooks.tryFilter(input) }
    },
  ),
}

function withoutSecrets({ secret: _, headers, ...webhook }: WebhookWithSecret): Webhook {
  const names = Object.keys(headers ?? {})
  return { ...webhook, headers: headers && Object.fromEntries(names.map((name) => [name, MASKED])) }
}
