import { DeliveryNotFound, Forbidden } from '../errors.ts'
import { Type, type Static } from '@sinclair/typebox'
import type { CountedDeadLetters, DeliveryAttempt, RedeliverInput, StatsQuery } from '@svc/webhooks'
import { isAdmin } from '../access/identity.ts'
import type { Attempt, DeliveryQuery, ShownRequest } from '../contract/webhooks.ts'
import { Anything, callsOf, List, pageOf } from './call.ts'

const { reads, changes } = callsOf('webhooks')

/** Attempts of one delivery that are shown: more than any schedule has. */
const MOST_ATTEMPTS = 100

const OneDelivery = Type.Object(
  { webhookId: Type.String(), deliveryId: Type.String({ format: 'uuid' }) },
  { additionalProperties: false },
)
const OneAttempt = Type.Object(
  {
    ...OneDelivery.properties,
    attempt: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  },
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
const listOf = (list: 'listDeliveries' | 'listDeadLetters') =>
  reads('deliveries:read', List, (input: DeliveryQuery, { webhooks, masks }) =>
    pageOf(
      input,
      (page) => webhooks[list]({ ...page, payloads: false }),
      (attempt) => masks.listed(withoutPayload(attempt)),
    ),
  )

export const deliveryCalls = {
  'deliveries.list': listOf('listDeliveries'),
  'deliveries.get': reads(
    'deliveries:read',
    OneDelivery,
    async ({ webhookId, deliveryId }: Static<typeof OneDelivery>, { webhooks, masks }) => {
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
  ),
  /** The request of an attempt, made again; `null` where none was sent. */
  'deliveries.request': reads(
    'deliveries:read',
    OneAttempt,
    async (input: Static<typeof OneAttempt>, { webhooks, masks }): Promise<ShownRequest | null> => {
      const { request } = await webhooks.getDelivery(input)
      // It is made of the whole payload.
      return request && masks.areOn ? { ...request, body: null, lacks: 'masked' } : request
    },
  ),
  'deliveries.redeliver': changes(
    'deliveries:write',
    Anything,
    async (input: RedeliverInput, { webhooks, identity }) => {
      if (input.url !== undefined && !isAdmin(identity)) throw new Forbidden('admin')
      return await webhooks.redeliver(input)
    },
  ),
  'deadLetters.list': listOf('listDeadLetters'),
  'deadLetters.count': reads(
    'deliveries:read',
    Anything,
    (input: CountedDeadLetters, { webhooks }) => webhooks.countDeadLetters(input),
  ),
  /** All of a webhook, or some by their ids. */
  'deadLetters.redrive': changes(
    'deliveries:write',
    Redrive,
    ({ webhookId, ids }: Static<typeof Redrive>, { webhooks }) =>
      webhooks.redrive({ id: webhookId, ...(ids && { ids }) }),
  ),
  'stats.get': reads('deliveries:read', Anything, (input: StatsQuery, { webhooks }) =>
    webhooks.stats(input),
  ),
}

export const withoutPayload = ({ payload: _, ...attempt }: DeliveryAttempt): Attempt => attempt
