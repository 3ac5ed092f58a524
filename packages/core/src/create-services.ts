/** `fastify.svc`, of the parts of core that run. */
import { createActions } from './actions/actions.ts'
import { createAudit } from './audit/audit.ts'
import { BY_PROCESS, type AuditOrigin } from './audit/audit-origin.ts'
import type { Reencryption } from './encryption/key-ring.ts'
import type { Events, PublishResult } from './events/event-api.ts'
import { createEventSearch } from './events/event-search.ts'
import { givenByHost, type Publisher } from './events/publish.ts'
import type { DeadLetterOperations } from './events/subscription-dead-letters.ts'
import type { Subscriptions } from './events/subscriptions.ts'
import type { HealthCheck } from './health/health.ts'
import { createKeyValueStore } from './kv/key-value-store.ts'
import type { OpenCore } from './open-core.ts'
import type { Db } from './postgres/transaction.ts'
import { orDatabaseError } from './postgres/unavailable.ts'
import type { SubscriptionPauses } from './subscription-pauses.ts'
import type { CoreServices, Svc } from './svc.ts'
import type { ErasedRows } from './tenant-erasure.ts'

interface Running {
  bus: Publisher
  subscriptions: Subscriptions
  handlers: DeadLetterOperations & SubscriptionPauses
  health: HealthCheck
  reencryption: Reencryption
  requestDb: Db
  readDb: Db
  eraseTenant(tenant: string, by: AuditOrigin): Promise<ErasedRows>
}

export function createServices(core: Running, { database, secrets, boss }: OpenCore): Svc {
  const { bus, health, reencryption, requestDb, readDb } = core
  const services: object = {
    transaction: (run, options) => bus.transactions.runOfHost(run, options),
    actions: createActions(),
    events: createEvents(core),
    kv: createKeyValueStore(requestDb, database.pool.names),
    audit: createAudit(readDb),
    secrets,
    database: database.hostPool,
    jobs: boss,
    health: () => health.check(),
    reencrypt: () => orDatabaseError(reencryption.run()),
    eraseTenant: (tenant) => core.eraseTenant(tenant, BY_PROCESS),
  } satisfies CoreServices
  // The plugins that extend the interface add what is theirs when they are mounted.
  return services as Svc
}

/** Closures, so that destructuring works and nothing else is reachable. */
const createEvents = ({ bus, subscriptions, handlers, readDb }: Running): Events => ({
  async publish(...given) {
    const { event, db: within } = givenByHost(...given)
    const [result] = await orDatabaseError(bus.publish([event], { db: within }), within)
    return result as PublishResult
  },
  subscribe: (name, handler, options) =>
    orDatabaseError(subscriptions.subscribe(name, handler, options)),
  unsubscribe: (subscription) => orDatabaseError(subscriptions.unsubscribe(subscription)),
  deadLetters: (...asked) => orDatabaseError(handlers.deadLetters(...asked)),
  redrive: (...asked) => orDatabaseError(handlers.redrive(...asked)),
  pause: (subscription, options) => orDatabaseError(handlers.pause(subscription, options)),
  resume: (subscription) => orDatabaseError(handlers.resume(subscription)),
  ...createEventSearch(readDb),
})
