/** The operations as one object: the methods of `svc.webhooks`, which are the named actions as well. */
import { Type } from '@sinclair/typebox'
import {
  callerFor,
  narrowedReach,
  readOperation,
  writeOperations,
  type Core,
} from '@svc/core/internal'
import {
  CountedDeadLetters,
  CountedWebhooks,
  FilterTrial,
  NewWebhook,
  Page,
  RotateSecretInput,
  TenantPage,
  TestWebhook,
  WebhookUpdate,
} from '../schemas.ts'
import {
  DeliverInput,
  ListDeliveries,
  RedeliverInput,
  RedriveInput,
  type ListedDeliveries,
} from '../delivery-schemas.ts'
import { ListRecoveries, RecoverInput, RecoveryId } from '../recovery-schemas.ts'
import { StatsQuery } from '../stats-schemas.ts'
import { InboundFilter } from '../inbound-schemas.ts'
import { descriptionOf, type DescribedEvent } from '../outbound/described-event.ts'
import { THE_PROCESS, type Caller } from './caller.ts'
import type { DeliveryOperations } from './deliveries.ts'
import type { DeliveryLists } from './delivery-lists.ts'
import { parsed } from './delivery-attempts.ts'
import type { InboundOperations } from './inbound.ts'
import type { TryFilter } from './filter-trial.ts'
import type { RecoveryOperations } from './recover.ts'
import type { ReadStats } from './stats.ts'
import type { SvcWebhooks } from './svc-webhooks.ts'
import type { WebhookOperations } from './webhooks.ts'

const Id = Type.String()

interface Parts {
  core: Core
  webhooks: WebhookOperations
  deliveries: DeliveryOperations
  lists: DeliveryLists
  recoveries: RecoveryOperations
  stats: ReadStats
  events: readonly DescribedEvent[]
  requests: InboundOperations
  tryFilter: TryFilter
}

export const createOperations = (parts: Parts): SvcWebhooks => ({
  ...operationsOf(parts, THE_PROCESS),
  // The host, whose code it is, has judged what they may do within their reach.
  as: ({ keyEvents: seesKeyEvents = true, ...who }) =>
    operationsOf(parts, { ...callerFor(who), isAdmin: true, seesKeyEvents }),
})

function operationsOf(
  { core, webhooks, deliveries, lists, recoveries, stats, events, requests, tryFilter }: Parts,
  by: Caller,
): Omit<SvcWebhooks, 'as'> {
  const writeOperation = writeOperations(core)
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
  const readStats = readOperation(StatsQuery, (query) => stats(query, by))
  const list = readOperation(
    Page,
    within((page: Page) => webhooks.list(page, by)),
  )
  const count = readOperation(CountedWebhooks, (of) => webhooks.count(of, by))
  const countDeadLetters = readOperation(CountedDeadLetters, (of) => lists.countDead(of, by))
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
    count: (of = {}) => count(of),
    countDeadLetters: (of = {}) => countDeadLetters(of),
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
    redrive: writeOperation(name('redrive'), RedriveInput, (webhook, db) =>
      deliveries.redrive(typeof webhook === 'string' ? { id: webhook } : webhook, db, by),
    ),
    recover: writeOperation(name('recover'), RecoverInput, (input, db) =>
      recoveries.recover(input, db, by),
    ),
    listRecoveries: readOperation(ListRecoveries, (webhook) =>
      recoveries.list(typeof webhook === 'string' ? { webhookId: webhook } : webhook, by),
    ),
    getRecovery: readOperation(RecoveryId, (input) => recoveries.get(input, by)),
    stats: (query = {}) => readStats(query),
    listInbound: (filter = {}) => listInbound(filter),
    tryFilter: readOperation(FilterTrial, (trial) => tryFilter(trial, by)),
    listTenants: (page = {}) => listTenants(page),
    replayInbound: readOperation(Id, (id) => requests.replay(id, by.reach, by.origin)),
  }
}

const selectionOf = (webhook: string | ListedDeliveries): ListedDeliveries =>
  typeof webhook === 'string' ? { webhookId: webhook } : webhook
