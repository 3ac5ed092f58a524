// What a host writes with outbound webhooks compiles, and what it gets wrong does not.
import type { FastifyInstance } from 'fastify'
import defaultExport, {
  svcWebhooks,
  WebhookNotFound,
  type DeliveryAttempt,
  type SvcWebhooksOptions,
  type Webhook,
  type WebhookWithSecret,
} from '@svc/webhooks'

export const options: SvcWebhooksOptions = {
  allowedEvents: ['order.created'],
  managementBasePath: '/_webhooks',
  deliveryTimeoutMs: 5000,
  allowedNetworks: ['10.0.0.0/8', 'fd00::/8'],
  standardWebhooks: true,
  deactivateOnGone: true,
  ed25519: { secretName: 'SIGNING_KEY' },
  transforms: {
    xml: ({ event, payload }) => ({ body: `<${event}>${payload.id}</${event}>` }),
    nothing: async () => null,
    github: {
      run: ({ event, payload, eventId, attempt, publishedAt, timestamp }) => ({
        body: payload,
        headers: {
          'X-Event': `${event} ${eventId} ${attempt + timestamp} ${publishedAt.getTime()}`,
        },
        sign: async ({ body, hmac, hmacs }) => ({
          'X-Hub-Signature': `sha1=${hmac(body, { algorithm: 'sha1' })}`,
          'X-Hub-Signatures': hmacs(body, { encoding: 'base64url' }).join(','),
        }),
      }),
      ownSignatures: false,
    },
    // @ts-expect-error -- a signature is made of texts
    wrong: () => ({ body: '', sign: ({ hmacs }) => ({ 'X-Signature': hmacs('a') }) }),
  },
  defaultTransform: 'github',
  headerPrefix: 'X-Acme-',
  deliveryLogRetentionDays: 7,
  deadLetterRetentionDays: 30,
}

export async function hostOf(app: FastifyInstance): Promise<void> {
  await app.register(svcWebhooks, options)
  await app.register(defaultExport, { allowedEvents: [] })

  await app.register(svcWebhooks, {})
  // @ts-expect-error -- there is no such option
  await app.register(svcWebhooks, { allowedEvents: [], retries: 5 })
}

export async function callsOf({ svc: { actions } }: FastifyInstance): Promise<void> {
  const made: WebhookWithSecret = await actions.call('__svc.webhooks.register', {
    url: 'https://receiver.example/',
    events: ['*'],
    label: null,
  })
  const all: Webhook[] = await actions.call('__svc.webhooks.list')
  const id: string = made.id + all.length
  const secret: string = (await actions.call('__svc.webhooks.get', id)).secret
  await actions.call('__svc.webhooks.update', { id, active: false })
  await actions.call('__svc.webhooks.rotateSecret', { id })
  await actions.call('__svc.webhooks.rotateSecret', { id, secret, overlapSeconds: 60 })
  const { deliveryId } = await actions.call('__svc.webhooks.test', id)
  const again: { deliveryId: string } = await actions.call('__svc.webhooks.redeliver', {
    webhookId: id,
    deliveryId,
  })
  const record: DeliveryAttempt = await actions.call('__svc.webhooks.deliver', {
    webhookId: id,
    event: 'order.created',
    payload: { secret },
    deliveryId: again.deliveryId,
    attempt: 1,
  })
  const failed: 'delivered' | 'failed' | 'dead' | 'skipped' = record.status
  await actions.call('__svc.webhooks.listDeliveries', id)
  await actions.call('__svc.webhooks.listDeliveries', { webhookId: id, status: failed, limit: 10 })
  const dead: DeliveryAttempt[] = await actions.call('__svc.webhooks.listDeadLetters', id)
  const count: number = (await actions.call('__svc.webhooks.redrive', id)).redriven + dead.length
  const nothing: void = await actions.call('__svc.webhooks.delete', `${id}${count}`)
  return nothing
}

export async function mistakesOf({ svc: { actions } }: FastifyInstance): Promise<unknown> {
  // @ts-expect-error -- there is no such action
  await actions.call('__svc.webhooks.remove', 'id')
  // @ts-expect-error -- the events are missing
  await actions.call('__svc.webhooks.register', { url: 'https://receiver.example/' })
  // @ts-expect-error -- an id is a string
  await actions.call('__svc.webhooks.get', 5)
  // @ts-expect-error -- there is no such status
  await actions.call('__svc.webhooks.listDeliveries', { webhookId: 'id', status: 'lost' })
  // @ts-expect-error -- a list shows no secret
  return (await actions.call('__svc.webhooks.list'))[0]?.secret
}

export async function methodsOf({ svc: { webhooks, database } }: FastifyInstance): Promise<void> {
  const db = await database.connect()
  const input = { url: 'https://receiver.example/', events: ['*'] }
  const made: WebhookWithSecret = await webhooks.register(input, { db })
  const dead: DeliveryAttempt[] = await webhooks.listDeadLetters({ webhookId: made.id, limit: 10 })
  await webhooks.redeliver({ webhookId: made.id, deliveryId: dead[0]!.deliveryId }, { db })
  const nothing: void = await webhooks.delete(made.id)
  const { filter, retry, headers } = await webhooks.register({
    ...input,
    filter: { payload: { total: { $gt: 5 } } },
    retry: { delaysSeconds: [1, 5] },
    headers: { 'X-One': '1' },
    ordered: null,
  })
  const shown: [object | null, number[] | undefined, string | undefined] = [
    filter,
    retry?.delaysSeconds,
    headers?.['X-One'],
  ]
  // @ts-expect-error -- a filter is an object
  await webhooks.update({ id: made.id, filter: 'order' })
  // @ts-expect-error -- what a webhook went through cannot be set
  await webhooks.update({ id: made.id, failingSince: shown[2] ?? null })
  // @ts-expect-error -- there is no such option
  await webhooks.register(input, { transaction: db })
  // @ts-expect-error -- a read takes no transaction
  await webhooks.get(made.id, { db })
  return nothing
}

export function statusOf(error: unknown): number | undefined {
  return error instanceof WebhookNotFound ? error.statusCode : undefined
}
