/** The caller of an operation: a request, or the process itself. */
import {
  EVERYWHERE,
  operationFor,
  originOf,
  reachOf,
  KEY_EVENTS,
  uuidOf,
  type AuditOrigin,
  type Db,
  type OperationCaller,
  type Reach,
} from '@svc/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { KeyEventsNotAllowed, OperatorOnly, WebhookNotFound } from './errors.ts'
import type { Webhook } from './schemas.ts'
import type { StoredWebhook } from './tables/webhook-row.ts'
import { findWebhook, type ChangedColumns } from './tables/webhooks.ts'

export interface Caller extends OperationCaller {
  /** Whose webhooks it reaches: those of others do not exist for it. */
  reach: Reach
  /** Whether it may do all that its reach allows: a key with `admin`, or code of this process. */
  isAdmin: boolean
  /** Whether it may see the events about API keys, and have them sent. */
  seesKeyEvents: boolean
  /** The caller as the audit names it. */
  origin?: AuditOrigin
  /** Aborts as the client goes away, for what waits. Absent for code of this process. */
  gone?: () => AbortSignal
}

export const THE_PROCESS: Caller = { reach: EVERYWHERE, isAdmin: true, seesKeyEvents: true }

export const operation = operationFor<Caller>()

/** The rules of routes for an operator with `admin` alone. */
export const ADMIN = { scopes: ['admin'] }

/** @throws OperatorOnly */
export function assertOperator({ reach }: Caller): void {
  if (reach !== EVERYWHERE) throw new OperatorOnly()
}

/** The scope of `@svc/auth` that opens its routes for keys. */
export const READS_KEYS = 'auth:manage'

interface Auth {
  tenant?: string | null
  scopes?: readonly string[]
}

/**
 * The plugin that guards the routes sets `request.auth` to the caller. Where it is not set, every
 * request that reaches the routes may do all.
 */
export function callerOf(request: FastifyRequest, reply: FastifyReply): Caller {
  const { auth } = request as { auth?: Auth | null }
  const holds = (scope: string) => auth?.scopes?.includes(scope) === true
  const isAdmin = auth === null || auth === undefined || holds('admin')
  const seesKeyEvents = isAdmin || holds(READS_KEYS)
  return {
    reach: reachOf(auth),
    isAdmin,
    seesKeyEvents,
    origin: originOf(request),
    gone: () => endOf(reply),
  }
}

function endOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  if (raw.closed) gone.abort()
  raw.once('close', () => gone.abort())
  return gone.signal
}

/**
 * The id of a webhook as its row has it: jobs and sealed columns are found by that text.
 *
 * @throws WebhookNotFound: the id of a webhook is a UUID
 */
export function webhookIdOf(given: string): string {
  const id = uuidOf(given)
  if (id === undefined) throw new WebhookNotFound(given)
  return id
}

/** The webhook `given`, where the caller reaches it. @throws WebhookNotFound */
export async function foundWebhook(
  db: Db,
  given: string,
  { reach }: Pick<Caller, 'reach'>,
): Promise<StoredWebhook> {
  const id = webhookIdOf(given)
  return existing(id, await findWebhook(db, id, reach))
}

/** @throws WebhookNotFound */
export function existing<Value>(id: string, value: Value | undefined): Value {
  if (value === undefined) throw new WebhookNotFound(id)
  return value
}

// Events about API keys, `svc.key.…`, tell what only callers who may read keys may know: others
// cannot have them sent to a webhook, and do not see them among deliveries.

type Seeing = Pick<Caller, 'seesKeyEvents'>

/** What the names of events begin with that lists leave out for the caller. */
export const hiddenFrom = ({ seesKeyEvents }: Seeing): { except?: string } =>
  seesKeyEvents ? {} : { except: KEY_EVENTS }

export const mayReceive = ({ seesKeyEvents }: Seeing, events: readonly string[]): boolean =>
  seesKeyEvents || !events.some((name) => isKeyEvent(name))

/** @throws KeyEventsNotAllowed */
export function assertMayReceive(by: Seeing, events: readonly string[]): void {
  if (!mayReceive(by, events)) throw new KeyEventsNotAllowed(READS_KEYS)
}

/**
 * What waits for a webhook would go to its new address, also of events that it no longer asks for. By a
 * filter of its choice, and by what then comes of the deliveries, a caller would find out their payloads.
 *
 * @throws KeyEventsNotAllowed
 */
export function assertMayAim(
  caller: Seeing,
  { url, events, filter }: Pick<ChangedColumns, 'url' | 'events' | 'filter'>,
  before: { events: readonly string[] },
): void {
  if ([url, events, filter].some((field) => field !== undefined)) {
    assertMayReceive(caller, before.events)
  }
}

/** A webhook as the caller sees it: without what comes of deliveries that are hidden from it. */
export function shownTo<Shown extends Webhook>({ seesKeyEvents }: Seeing, webhook: Shown): Shown {
  if (seesKeyEvents || !webhook.events.some((name) => isKeyEvent(name))) return webhook
  return { ...webhook, lastSuccessAt: null, failingSince: null, waiting: 0 }
}

/** Whether a delivery does not exist for the caller. */
export const isHidden = ({ seesKeyEvents }: Seeing, event: string): boolean =>
  !seesKeyEvents && isKeyEvent(event)

const isKeyEvent = (name: string): boolean => name.startsWith(KEY_EVENTS)
