/** The operations as one object: the methods of `svc.webhooks`, which are the named actions as well. */
import { Type } from '@sinclair/typebox'
import type { OnBehalfOf, OperationOptions } from '@svc/core'
import { callerFor, narrowedReach, readOperation, writeOperation } from '@svc/core/internal'
import {
  DeliverInput,
  FilterTrial,
  ListDeliveries,
  NewWebhook,
  Page,
  RedeliverInput,
  RotateSecretInput,
  TenantPage,
  TestWebhook,
  WebhookUpdate,
  type DeliveryAttempt,
  type EventDescription,
  type ListedDeliveries,
  type QueuedDelivery,
  type RedriveResult,
  type TenantOfWebhooks,
  type TestInput,
  type TriedEvent,
  type Webhook,
  type WebhookWithSecret,
} from '../schemas.ts'
import { InboundFilter, type LoggedRequest, type ReplayResult } from '../inbound-schemas.ts'
import { descriptionOf, type DescribedEvent } from '../outbound/described-event.ts'
import { THE_PROCESS, type Caller } from './caller.ts'
import type { DeliveryOperations } from './deliveries.ts'
import type { DeliveryLists } from './delivery-lists.ts'
import { parsed } from './delivery-attempts.ts'
import type { InboundOperations } from './inbound.ts'
import type { TryFilter } from './filter-trial.ts'
import type { WebhookOperations } from './webhooks.ts'

/**
 * The operations on webhooks and deliveries. They reject with the errors of their routes. With `db`,
 * a client inside a transaction of the caller, an operation writes in that transaction: nothing of it
 * is visible or sent before the commit. After a commit of `svc.transaction` the workers are woken at
 * once; the commit of another transaction they find by polling, within seconds.
 *
 * @example
 * await app.svc.transaction(async (db) => {
 *   const { rows } = await db.query('insert into customers (name) values ($1) returning id', [name])
 *   await app.svc.webhooks.register({ url, events: ['order.created'], label: rows[0].id }, { db })
 * })
 */
export interface SvcWebhooks {
  /**
   * Registers a webhook.
   *
   * @throws InvalidInput, UrlRefused, EventNotAllowed
   */
  register: (input: NewWebhook, options?: OperationOptions) => Promise<WebhookWithSecret>
  /** Lists webhooks, newest first; all of them where no `limit` is given. */
  list: (page?: Page) => Promise<Webhook[]>
  /** @throws WebhookNotFound */
  get: (id: string) => Promise<WebhookWithSecret>
  /**
   * Changes the given fields. While `active` is `false` deliveries wait.
   *
   * @throws InvalidInput, WebhookNotFound, UrlRefused, EventNotAllowed
   */
  update: (input: WebhookUpdate, options?: OperationOptions) => Promise<Webhook>
  /**
   * Deletes a webhook, its waiting deliveries and its dead letters. The log shows them as `skipped`.
   *
   * @throws WebhookNotFound
   */
  delete: (id: string, options?: OperationOptions) => Promise<void>
  /**
   * Makes a new secret. Deliveries are signed with the old one as well for `overlapSeconds` (86400
   * by default, at most 31536000).
   *
   * @throws InvalidInput, WebhookNotFound
   */
  rotateSecret: (input: RotateSecretInput, options?: OperationOptions) => Promise<WebhookWithSecret>
  /**
   * Queues a `webhook.test` event for this webhook alone, or the example of another event.
   *
   * @throws InvalidInput, WebhookNotFound, EventNotAllowed, NoExample
   */
  test: (webhook: string | TestInput, options?: OperationOptions) => Promise<QueuedDelivery>
  /** Lists the allowed events, and what the host says of them. */
  listEvents: () => Promise<EventDescription[]>
  /**
   * Makes one attempt now and writes it to the log; a failure is not tried again. With `db` the
   * transaction stays open for as long as the receiver takes, at most `deliveryTimeoutMs`.
   *
   * @throws InvalidInput, WebhookNotFound, WebhookInactive
   */
  deliver: (input: DeliverInput, options?: OperationOptions) => Promise<DeliveryAttempt>
  /**
   * Lists the attempts of a webhook's deliveries, newest first, or over all webhooks where none is
   * named; all of them where no `limit` is given.
   *
   * @throws InvalidInput, WebhookNotFound
   */
  listDeliveries: (webhook?: string | ListedDeliveries) => Promise<DeliveryAttempt[]>
  /**
   * Queues a delivery of the log, or a dead letter, once more, under a new delivery id.
   *
   * @throws InvalidInput, WebhookNotFound, DeliveryNotFound
   */
  redeliver: (input: RedeliverInput, options?: OperationOptions) => Promise<QueuedDelivery>
  /**
   * Lists the dead letters of a webhook, newest first, or over all webhooks where none is named: the
   * last attempt of each, under the id of the dead letter.
   *
   * @throws InvalidInput, WebhookNotFound
   */
  listDeadLetters: (webhook?: string | ListedDeliveries) => Promise<DeliveryAttempt[]>
  /**
   * Queues all dead letters of a webhook again, with all their attempts.
   *
   * @throws WebhookNotFound
   */
  redrive: (id: string, options?: OperationOptions) => Promise<RedriveResult>
  /**
   * Lists inbound requests, newest first; all of them where no `limit` is given.
   *
   * @throws InvalidInput
   */
  listInbound: (filter?: InboundFilter) => Promise<LoggedRequest[]>
  /**
   * Publishes what a logged inbound request was published as once more, in a transaction of its own.
   *
   * @throws InboundRequestNotFound, NotReplayable
   */
  replayInbound: (id: string) => Promise<ReplayResult>
  /**
   * Which of the newest events, at most 50, a filter lets through. Nothing is delivered.
   *
   * @throws InvalidInput, InvalidFilter, EventNotAllowed
   */
  tryFilter: (trial: FilterTrial) => Promise<TriedEvent[]>
  /** The tenants that have webhooks, by name: all of them without a `limit`. @throws InvalidInput */
  listTenants: (page?: TenantPage) => Promise<TenantOfWebhooks[]>
  /**
   * The same operations for somebody: where a tenant is given, webhooks of others do not exist for
   * them, and the audit names the actor. For a page of the host's own.
   *
   * @throws InvalidInput where the tenant is neither a tenant nor `null`
   * @example
   * const webhooks = await app.svc.webhooks.as({ tenant: 'acme' }).list()
   */
  as: (who: OnBehalfOf) => Omit<SvcWebhooks, 'as'>
}

declare module '@svc/core' {
  interface Svc {
    webhooks: SvcWebhooks
  }
}

const Id = Type.String()

interface Parts {
  webhooks: WebhookOperations
  deliveries: DeliveryOperations
  lists: DeliveryLists
  events: readonly DescribedEvent[]
  requests: InboundOperations
  tryFilter: TryFilter
}

export const createOperations = (parts: Parts): SvcWebhooks => ({
  ...operationsOf(parts, THE_PROCESS),
  as: (who) => operationsOf(parts, callerFor(who)),
})

function operationsOf(
  { webhooks, deliveries, lists, events, requests, tryFilter }: Parts,
  by: Caller,
): Omit<SvcWebhooks, 'as'> {
  const name = (method: keyof SvcWebhooks) => `svc.webhooks.${method}`
  /** A list within the reach of the caller. */
  const within = <Filter extends { tenant?: string }, Row>(
    list: (filter: Filter) => Promise<Row[]>,
  ) => {
    return async ({ tenant, ...filter }: Filter): Promise<Row[]> => {
      const reach = narrowedReach(by.reach, tenant)
      if (reach === undefined) return []
      return await list({ ...filter, ...(reach === null ? {} : { tenant: reach }) } as Filter)
    }
  }
  const list = readOperation(Page, within(webhooks.list))
  const listTenants = readOperation(TenantPage, (page) => webhooks.listTenants(page, by))
  const listInbound = readOperation(InboundFilter, within(requests.list))
  const listDeliveries = readOperation(ListDeliveries, async (webhook) =>
    (await lists.list(selectionOf(webhook), by)).rows.map(parsed),
  )
  const listDeadLetters = readOperation(ListDeliveries, async (webhook) =>
    (await lists.listDead(selectionOf(webhook), by)).rows.map(parsed),
  )
  return {
    register: writeOperation(name('register'), NewWebhook, (input, db) =>
      webhooks.register(input, db, by),
    ),
    list: (page = {}) => list(page),
    get: readOperation(Id, (id) => webhooks.get(id, by)),
    update: writeOperation(name('update'), WebhookUpdate, ({ id, ...changes }, db) =>
      webhooks.update(id, changes, db, by),
    ),
    delete: writeOperation(name('delete'), Id, (id, db) => webhooks.delete(id, db, by)),
    rotateSecret: writeOperation(name('rotateSecret'), RotateSecretInput, (input, db) =>
      webhooks.rotateSecret(input, db, by),
    ),
    test: writeOperation(name('test'), TestWebhook, (webhook, db) =>
      deliveries.test(typeof webhook === 'string' ? { id: webhook } : webhook, db, by),
    ),
    listEvents: async () => events.map(descriptionOf),
    deliver: writeOperation(name('deliver'), DeliverInput, async (input, db) =>
      parsed(await deliveries.deliver(input, db, by)),
    ),
    listDeliveries: (webhook = {}) => listDeliveries(webhook),
    redeliver: writeOperation(name('redeliver'), RedeliverInput, (input, db) =>
      deliveries.redeliver(input, db, by),
    ),
    listDeadLetters: (webhook = {}) => listDeadLetters(webhook),
    redrive: writeOperation(name('redrive'), Id, (id, db) => deliveries.redrive(id, db, by)),
    listInbound: (filter = {}) => listInbound(filter),
    tryFilter: readOperation(FilterTrial, (trial) => tryFilter(trial, by)),
    listTenants: (page = {}) => listTenants(page),
    replayInbound: readOperation(Id, (id) => requests.replay(id, by.reach, by.origin)),
  }
}

const selectionOf = (webhook: string | ListedDeliveries): ListedDeliveries =>
  typeof webhook === 'string' ? { webhookId: webhook } : webhook
