/** `fastify.svc`, of the parts of core that run. */
import { createActions } from './actions/actions.ts'
import { createAudit } from './audit/audit.ts'
import { BY_PROCESS } from './audit/audit-origin.ts'
import type { Reencryption } from './encryption/reencryption.ts'
import { createEvents } from './events/create-events.ts'
import type { EventBus } from './events/event-bus.ts'
import type { HealthCheck } from './health/health.ts'
import type { PgBoss } from './jobs/pg-boss/boss.ts'
import { createKeyValueStore } from './kv/key-value-store.ts'
import type { Database } from './postgres/pools.ts'
import { orUnavailable } from './postgres/unavailable.ts'
import type { Secrets } from './secrets.ts'
import type { CoreServices, Svc } from './svc.ts'
import type { TenantErasure } from './tenant-erasure.ts'

interface RunningParts {
  bus: EventBus
  database: Pick<Database, 'db' | 'pool'>
  secrets: Secrets
  boss: PgBoss
  health: Pick<HealthCheck, 'check'>
  reencryption: Reencryption
  erasure: TenantErasure
}

export function createServices(parts: RunningParts): Svc {
  const { bus, database, secrets, boss, health, reencryption, erasure } = parts
  const services: object = {
    transaction: (run, options) => bus.hostTransaction(run, options),
    actions: createActions(),
    events: createEvents(bus, database.db),
    kv: createKeyValueStore(database.db),
    audit: createAudit(database.db),
    secrets,
    database: database.pool,
    jobs: boss,
    health: () => health.check(),
    reencrypt: () => orUnavailable(reencryption.run()),
    eraseTenant: (tenant) => erasure.run(tenant, BY_PROCESS),
  } satisfies CoreServices
  // The plugins that extend the interface add what is theirs when they are mounted.
  return services as Svc
}
