import { DeliveryNotFound, Forbidden } from '../errors.ts'
import { Type } from '@sinclair/typebox'
import type { DeliveryAttempt } from '@svc/webhooks'
import { isAdmin } from '../access/identity.ts'
import type { Attempt, DeliveryQuery, Page } from '../contract.ts'
import { Anything, List, pageOf, type Call, type CallsOf } from './call.ts'

/** Attempts of one delivery that are shown: more than any schedule has. */
const MOST_ATTEMPTS = 100

const OneDelivery = Type.Object(
  { webhookId: Type.String(), deliveryId: Type.String({ format: 'uuid' }) },
  { additionalProperties: false },
)
const Redrive = Type.Object(
  {
    webhookId: Type.String(),
    ids: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 200 })),
  },
  { additionalProperties: false },
)

/** Attempts without their payloads: of the log, or the dead letters. */
const listOf = (
  list: 'listDeliveries' | 'listDeadLetters',
): Call<DeliveryQuery, Page<Attempt>> => ({
  right: 'deliveries:read',
  changes: false,
  needs: 'webhooks',
  input: List,
  run: (input, { webhooks, masks }) =>
    pageOf(
      input,
      (page) => webhooks[list]({ ...page, payloads: false }),
      (attempt) => masks.listed(withoutPayload(attempt)),
    ),
})

export const deliveryCalls: CallsOf<'deliveries' | 'deadLetters' | 'stats'> = {
  'deliveries.list': listOf('listDeliveries'),
  'deliveries.get': {
    right: 'deliveries:read',
    changes: false,
    needs: 'webhooks',
    input: OneDelivery,
    async run({ webhookId, deliveryId }, { webhooks, masks }) {
      const filter = { webhookId, deliveryId, payloads: false, limit: MOST_ATTEMPTS }
      const logged = await webhooks.listDeliveries(filter)
      // Dead letters are kept longer than the log.
      const list = logged.length > 0 ? webhooks.listDeliveries : webhooks.listDeadLetters
      const attempts = logged.length > 0 ? logged : await list(filter)
      // All attempts have the same payload.
      const [newest] = await list({ webhookId, deliveryId, limit: 1 })
      if (newest === undefined) throw new DeliveryNotFound()
      const { event, eventId, payload, eventTenant = null } = newest
      // A delivery that no event made, such as a test, was made for the webhook.
      const tenant = eventId === null ? (await webhooks.get(webhookId)).tenant : eventTenant
      const shown = masks.of(payload, { event, tenant })
      return {
        webhookId,
        deliveryId,
        event,
        eventId,
        payload: shown.payload,
        attempts: attempts.map((attempt) => shown.attempt(withoutPayload(attempt))),
      }
    },
  },
  'deliveries.redeliver': {
    right: 'deliveries:write',
    changes: true,
    needs: 'webhooks',
    input: Anything,
    async run(input, { webhooks, identity }) {
      if (input.url !== undefined && !isAdmin(identity)) throw new Forbidden('admin')
      return await webhooks.redeliver(input)
    },
  },
  'deadLetters.list': listOf('listDeadLetters'),
  'deadLetters.count': {
    right: 'deliveries:read',
    changes: false,
    needs: 'webhooks',
    input: Anything,
    run: (input, { webhooks }) => webhooks.countDeadLetters(input),
  },
  'deadLetters.redrive': {
    right: 'deliveries:write',
    changes: true,
    needs: 'webhooks',
    input: Redrive,
    run: ({ webhookId, ids }, { webhooks }) =>
      webhooks.redrive({ id: webhookId, ...(ids && { ids }) }),
  },
  'stats.get': {
    right: 'deliveries:read',
    changes: false,
    needs: 'webhooks',
    input: Anything,
    run: (input, { webhooks }) => webhooks.stats(input),
  },
}

export const withoutPayload = ({ payload: _, ...attempt }: DeliveryAttempt): Attempt => attempt
