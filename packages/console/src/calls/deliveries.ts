import { DeliveryNotFound, Forbidden } from '../errors.ts'
import { Type, type Static } from '@sinclair/typebox'
import type { CountedDeadLetters, DeliveryAttempt, RedeliverInput, StatsQuery } from '@svc/webhooks'
import { isAdmin } from '../access/identity.ts'
import type { Attempt, Delivery, DeliveryQuery, RequestOfAttempt } from '../contract/webhooks.ts'
import { Anything, callsOf, List, pageOf } from './call.ts'

const { reads, changes } = callsOf('webhooks')

const OneDelivery = Type.Object(
  {
    webhookId: Type.String(),
    deliveryId: Type.String({ format: 'uuid' }),
    attempt: Type.Optional(Type.Integer({ minimum: 1 })),
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

export const deliveryCalls = {
  /** `complete`: `false` where the search took long and ended before the page was full. */
  'deliveries.list': reads(
    'deliveries:read',
    List,
    async (input: DeliveryQuery, { webhooks, masks }) => {
      const { items, ...page } = await webhooks.searchDeliveries({ ...input, payloads: false })
      return { ...page, items: items.map((attempt) => masks.listed(withoutPayload(attempt))) }
    },
  ),
  'deliveries.get': reads(
    'deliveries:read',
    OneDelivery,
    async (input: Static<typeof OneDelivery>, { webhooks, masks }): Promise<Delivery> => {
      const { webhookId, deliveryId } = input
      const delivery = await webhooks.getDelivery(input)
      const { event, eventId, status, nextAttemptAt, attempts, request } = delivery
      // All attempts have the same payload. Dead letters are kept longer than the log.
      const one = { webhookId, deliveryId, limit: 1 }
      const logged = await webhooks.listDeliveries(one)
      const [newest] = logged.length > 0 ? logged : await webhooks.listDeadLetters(one)
      if (newest === undefined) throw new DeliveryNotFound()
      const { payload, eventTenant = null } = newest
      // A delivery that no event made, such as a test, was made for the webhook.
      const tenant = eventId === null ? (await webhooks.get(webhookId)).tenant : eventTenant
      const shown = masks.of(payload, { event, tenant })
      return {
        webhookId,
        deliveryId,
        event,
        eventId,
        payload: shown.payload,
        status,
        nextAttemptAt,
        attempts: attempts.map((attempt) => shown.attempt(attempt)),
        request: request && cut(shown.request(request)),
      }
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
  'deadLetters.list': reads('deliveries:read', List, (input: DeliveryQuery, { webhooks, masks }) =>
    pageOf(
      input,
      (page) => webhooks.listDeadLetters({ ...page, payloads: false }),
      (attempt) => masks.listed(withoutPayload(attempt)),
    ),
  ),
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

/** The payload is in the answer already. */
const MOST_OF_BODY = 65_536

const cut = (request: RequestOfAttempt): RequestOfAttempt =>
  request.body === null || request.body.length <= MOST_OF_BODY
    ? request
    : { ...request, body: request.body.slice(0, MOST_OF_BODY), bodyCut: true }
