/** `fastify.svc`, of the parts of core that run. */
import { createActions } from './actions/actions.ts'
import { createAudit } from './audit/audit.ts'
import { BY_PROCESS } from './audit/audit-origin.ts'
import type { Reencryption } from './encryption/reencryption.ts'
import type { Events, PublishResult } from './events/event-api.ts'
import { createEventSearch } from './events/event-search.ts'
import { givenByHost, type Publisher } from './events/publish.ts'
import type { SubscriptionPauses } from './subscription-pauses.ts'
import type { Subscriptions } from './events/subscriptions.ts'
import type { HealthCheck } from './health/health.ts'
import type { PgBoss } from './jobs/pg-boss/boss.ts'
import { createKeyValueStore } from './kv/key-value-store.ts'
import type { Database } from './postgres/pools.ts'
import type { Db } from './postgres/transaction.ts'
import { orDatabaseError } from './postgres/unavailable.ts'
import type { Secrets } from './secrets.ts'
import type { CoreServices, Svc } from './svc.ts'
import type { TenantErasure } from './tenant-erasure.ts'

interface Running {
  bus: Publisher
  subscriptions: Subscriptions
  handlers: SubscriptionPauses
  health: Pick<HealthCheck, 'check'>
  reencryption: Reencryption
  /** It waits for Postgres as long as a request does. */
  requestDb: Db
  readDb: Db
}

interface Parts {
  database: Pick<Database, 'hostPool' | 'names'>
  secrets: Secrets
  boss: PgBoss
  erasure: TenantErasure
}

export function createServices(running: Running, parts: Parts): Svc {
  const { bus, subscriptions, handlers, health, reencryption, requestDb, readDb } = running
  const { database, secrets, boss, erasure } = parts
  const services: object = {
    transaction: (run, options) => bus.transactions.runOfHost(run, options),
    actions: createActions(),
    events: createEvents(bus, subscriptions, handlers, readDb),
    kv: createKeyValueStore(requestDb, database.names),
    audit: createAudit(readDb),
    secrets,
    database: database.hostPool,
    jobs: boss,
    health: () => health.check(),
    reencrypt: () => orDatabaseError(reencryption.run()),
    eraseTenant: (tenant) => erasure.run(tenant, BY_PROCESS),
  } satisfies CoreServices
  // The plugins that extend the interface add what is theirs when they are mounted.
  return services as Svc
}

/** Closures, so that destructuring works and nothing else is reachable. */
const createEvents = (
  bus: Publisher,
  subscriptions: Subscriptions,
  handlers: SubscriptionPauses,
  db: Db,
): Events => ({
  async publish(...given) {
    const { event, db: within } = givenByHost(...given)
    const [result] = await orDatabaseError(bus.publish([event], { db: within }), within)
    return result as PublishResult
  },
  subscribe: (name, handler, options) =>
    orDatabaseError(subscriptions.subscribe(name, handler, options)),
  unsubscribe: (subscription) => orDatabaseError(subscriptions.unsubscribe(subscription)),
  deadLetters: (...asked) => orDatabaseError(subscriptions.deadLetters.deadLetters(...asked)),
  redrive: (...asked) => orDatabaseError(subscriptions.deadLetters.redrive(...asked)),
  pause: (subscription, options) => orDatabaseError(handlers.pause(subscription, options)),
  resume: (subscription) => orDatabaseError(handlers.resume(subscription)),
  ...createEventSearch(db),
})
