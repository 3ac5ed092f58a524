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

/** What is sent, and whether the answer to it refuses. */
type Attack = [
  input: (victim: Victim) => unknown,
  refused: (answer: Answer, victim: Victim) => boolean,
]

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

const countsNothing = ({ status, body }: Answer) => status === 200 && body.count === 0
const hasNoAttempts = ({ status, body }: Answer) =>
  status === 200 &&
  body.points.every(({ attempts }: { attempts: object }) =>
    Object.values(attempts).every((count) => count === 0),
  )
const tenant = 'acme'
const recovery = { what: 'dead', since: '2020-01-01T00:00:00Z' }
const handler = { subscription: 'ship' }

const given = (input: object) => () => input
const ofTenant = given({ tenant })
const byId = (field: keyof Victim) => (victim: Victim) => ({ id: victim[field] })
const byWebhook = ({ webhookId }: Victim) => ({ webhookId })
const byDelivery = ({ webhookId, deliveryId }: Victim) => ({ webhookId, deliveryId })

/** An operation on one thing, which is asked for by its id. */
const ofOne = (field: keyof Victim): Attack => [byId(field), isNotFound]
const search: Attack = [ofTenant, isSilent]
const ofOperators: Attack = [given({}), isForbidden]
/** The same for everybody. */
const common: Attack = [given({}), isSilent]

export const ATTACKS: Record<CallName, Attack> = {
  'webhooks.list': search,
  'webhooks.count': [ofTenant, countsNothing],
  'webhooks.get': ofOne('webhookId'),
  'webhooks.secrets': ofOne('webhookId'),
  'webhooks.signing': ofOne('webhookId'),
  'webhooks.create': [given({ url: 'https://example.com', events: ['*'], tenant }), isForeign],
  'webhooks.update': [({ webhookId: id }) => ({ id, active: false }), isNotFound],
  'webhooks.delete': ofOne('webhookId'),
  'webhooks.rotateSecret': ofOne('webhookId'),
  'webhooks.test': ofOne('webhookId'),
  'webhooks.recover': [({ webhookId: id }) => ({ id, ...recovery }), isNotFound],
  'webhooks.recoverMany': [given({ tenant, ...recovery }), isForbidden],
  'webhooks.recoveries': [byWebhook, isNotFound],
  'webhooks.tryFilter': [given({ filter: {}, events: ['*'], tenant }), isForeign],
  'deliveries.list': search,
  'deliveries.get': [byDelivery, isNotFound],
  'deliveries.redeliver': [byDelivery, isNotFound],
  'deadLetters.list': search,
  'deadLetters.count': [byWebhook, countsNothing],
  'deadLetters.redrive': [byWebhook, isNotFound],
  'stats.get': [byWebhook, hasNoAttempts],
  'catalogue.list': common,
  'events.list': search,
  'events.get': [({ eventId: id }) => ({ name: 'order.created', id, tenant }), isNotFound],
  'inbound.list': search,
  'inbound.sources': common,
  'inbound.test': [given({ source: 'sender' }), isForbidden],
  'inbound.replay': ofOne('requestId'),
  'users.list': search,
  'users.get': ofOne('userId'),
  'users.create': [given({ email: 'x@example.com', name: 'X', tenant }), isForeign],
  'users.delete': ofOne('userId'),
  'keys.list': [({ userId }) => ({ userId }), isSilent],
  'keys.get': ofOne('keyId'),
  'keys.owners': search,
  'keys.create': [({ userId }) => ({ userId }), isNotFound],
  'keys.update': [({ keyId: id }) => ({ id, label: 'x' }), isNotFound],
  'keys.rotate': ofOne('keyId'),
  'keys.revoke': ofOne('keyId'),
  'keys.usage': [({ keyId }) => ({ keyId }), isNotFound],
  'keys.nearLimits': [given({ over: 0, tenant }), isSilent],
  'keys.scopes': common,
  'audit.list': search,
  'tenants.list': ofOperators,
  'portal.rights': ofOperators,
  'portal.link': [ofTenant, isForbidden],
  'portal.links': [ofTenant, isForbidden],
  'portal.revoke': [byId('sessionId'), isForbidden],
  'health.get': ofOperators,
  'health.processes': ofOperators,
  'pauses.begin': ofOperators,
  'pauses.end': ofOperators,
  'handlers.list': ofOperators,
  'handlers.pause': [given(handler), isForbidden],
  'handlers.resume': [given(handler), isForbidden],
  'handlers.redrive': [given(handler), isForbidden],
  'handlers.delete': [byId('keyId'), isForbidden],
  'sessions.list': ofOperators,
  'sessions.end': [byId('sessionId'), isForbidden],
}
