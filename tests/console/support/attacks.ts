/** How each operation of the console is attacked by another tenant, which may do all that a tenant may. */
import type { CallName } from '../../../packages/console/src/contract.ts'
import type { Answer } from './host.ts'

export interface Victim {
  webhookId: string
  deliveryId: string
  eventId: string
  requestId: string
  userId: string
  keyId: string
  sessionId: string
}

interface Attack {
  input: (victim: Victim) => unknown
  refused: (answer: Answer, victim: Victim) => boolean
}

/** Stands in what the victim has. */
export const SECRET = 'secret-of-acme'

const isNotFound = ({ status }: Answer) => status === 404
const isForbidden = ({ status }: Answer) => status === 403
const isForeign = ({ status, body }: Answer) => status === 403 && body.code === 'SVC_FOREIGN_TENANT'
const isSilent = ({ status, text }: Answer, victim: Victim) =>
  status === 200 &&
  !text.includes(SECRET) &&
  !text.includes('acme') &&
  Object.values(victim).every((id) => !text.includes(id as string))

const span = { since: '2020-01-01T00:00:00Z' }
const countsNothing = ({ status, body }: Answer) => status === 200 && body.count === 0
const byId = (field: keyof Victim) => (victim: Victim) => ({ id: victim[field] })

export const ATTACKS: Record<CallName, Attack> = {
  'webhooks.list': { input: () => ({ tenant: 'acme' }), refused: isSilent },
  'webhooks.count': { input: () => ({ tenant: 'acme' }), refused: countsNothing },
  'webhooks.get': { input: byId('webhookId'), refused: isNotFound },
  'webhooks.secrets': { input: byId('webhookId'), refused: isNotFound },
  'webhooks.signing': { input: byId('webhookId'), refused: isNotFound },
  'webhooks.create': {
    input: () => ({ url: 'https://example.com', events: ['*'], tenant: 'acme' }),
    refused: isForeign,
  },
  'webhooks.update': {
    input: ({ webhookId }) => ({ id: webhookId, active: false }),
    refused: isNotFound,
  },
  'webhooks.delete': { input: byId('webhookId'), refused: isNotFound },
  'webhooks.rotateSecret': { input: byId('webhookId'), refused: isNotFound },
  'webhooks.test': { input: byId('webhookId'), refused: isNotFound },
  'webhooks.recover': {
    input: ({ webhookId }) => ({ id: webhookId, what: 'dead', ...span }),
    refused: isNotFound,
  },
  'webhooks.recoverMany': {
    input: () => ({ tenant: 'acme', what: 'dead', ...span }),
    refused: ({ status, body }) => (status === 200 ? body.deliveries === 0 : status === 403),
  },
  'webhooks.recoveries': { input: ({ webhookId }) => ({ webhookId }), refused: isNotFound },
  'webhooks.tryFilter': {
    input: () => ({ filter: {}, events: ['*'], tenant: 'acme' }),
    refused: isForeign,
  },
  'deliveries.list': { input: () => ({ tenant: 'acme' }), refused: isSilent },
  'deliveries.get': {
    input: ({ webhookId, deliveryId }) => ({ webhookId, deliveryId }),
    refused: isNotFound,
  },
  'deliveries.redeliver': {
    input: ({ webhookId, deliveryId }) => ({ webhookId, deliveryId }),
    refused: isNotFound,
  },
  'deadLetters.list': { input: () => ({ tenant: 'acme' }), refused: isSilent },
  'deadLetters.count': {
    input: ({ webhookId }) => ({ webhookId }),
    refused: countsNothing,
  },
  'deadLetters.redrive': { input: ({ webhookId }) => ({ webhookId }), refused: isNotFound },
  'stats.get': {
    input: ({ webhookId }) => ({ webhookId }),
    refused: (answer) =>
      isNotFound(answer) ||
      (answer.status === 200 &&
        answer.body.points.every(
          (point: { attempts: object }) =>
            !Object.values(point.attempts).some((count) => count !== 0),
        )),
  },
  // The same for everybody.
  'catalogue.list': { input: () => ({}), refused: isSilent },
  'events.list': { input: () => ({ tenant: 'acme' }), refused: isSilent },
  'events.get': {
    input: ({ eventId }) => ({ name: 'order.created', id: eventId, tenant: 'acme' }),
    refused: isNotFound,
  },
  'inbound.list': { input: () => ({ tenant: 'acme' }), refused: isSilent },
  'inbound.sources': { input: () => ({}), refused: isSilent },
  'inbound.test': { input: () => ({ source: 'sender' }), refused: isForbidden },
  'inbound.replay': { input: byId('requestId'), refused: isNotFound },
  'users.list': { input: () => ({ tenant: 'acme' }), refused: isSilent },
  'users.get': { input: byId('userId'), refused: isNotFound },
  'users.create': {
    input: () => ({ email: 'x@example.com', name: 'X', tenant: 'acme' }),
    refused: isForeign,
  },
  'users.delete': { input: byId('userId'), refused: isNotFound },
  'keys.list': { input: ({ userId }) => ({ userId }), refused: isSilent },
  'keys.get': { input: byId('keyId'), refused: isNotFound },
  'keys.owners': { input: () => ({ tenant: 'acme' }), refused: isSilent },
  'keys.create': { input: ({ userId }) => ({ userId }), refused: isNotFound },
  'keys.update': { input: ({ keyId }) => ({ id: keyId, label: 'x' }), refused: isNotFound },
  'keys.rotate': { input: byId('keyId'), refused: isNotFound },
  'keys.revoke': { input: byId('keyId'), refused: isNotFound },
  'keys.usage': { input: ({ keyId }) => ({ keyId }), refused: isNotFound },
  'keys.nearLimits': { input: () => ({ over: 0, tenant: 'acme' }), refused: isSilent },
  'keys.scopes': { input: () => ({}), refused: isSilent },
  'audit.list': { input: () => ({ tenant: 'acme' }), refused: isSilent },
  'tenants.list': { input: () => ({}), refused: isForbidden },
  'portal.rights': { input: () => ({}), refused: isForbidden },
  'portal.link': { input: () => ({ tenant: 'acme' }), refused: isForbidden },
  'portal.links': { input: () => ({ tenant: 'acme' }), refused: isForbidden },
  'portal.revoke': { input: byId('sessionId'), refused: isForbidden },
  'health.get': { input: () => ({}), refused: isForbidden },
  'pauses.begin': { input: () => ({}), refused: isForbidden },
  'pauses.end': { input: () => ({}), refused: isForbidden },
  'handlers.list': { input: () => ({}), refused: isForbidden },
  'handlers.pause': { input: () => ({ subscription: 'ship' }), refused: isForbidden },
  'handlers.resume': { input: () => ({ subscription: 'ship' }), refused: isForbidden },
  'handlers.redrive': { input: () => ({ subscription: 'ship' }), refused: isForbidden },
  'handlers.delete': { input: byId('keyId'), refused: isForbidden },
  'sessions.list': { input: () => ({}), refused: isForbidden },
  'sessions.end': { input: byId('sessionId'), refused: isForbidden },
}
