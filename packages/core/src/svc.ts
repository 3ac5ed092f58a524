import type pg from 'pg'
import type { Audit } from './audit/audit.ts'
import type { Actions } from './actions/actions.ts'
import type { Events } from './events/event-api.ts'
import type { PgBoss } from './jobs/pg-boss/boss.ts'
import type { Health } from './health/health.ts'
import type { KeyValueStore } from './kv/key-value-store.ts'
import type { TransactionOptions } from './postgres/host-transactions.ts'
import type { Db } from './postgres/transaction.ts'
import type { Secrets } from './secrets.ts'
import type { ErasedRows } from './tenant-erasure.ts'

/** The interface of `fastify.svc`. */
export interface CoreServices {
  /**
   * Runs `run` in a transaction: begins, commits, rolls back on a throw, which it throws again.
   * Events that are published in it with `{ db }` are delivered at once after the commit, and never
   * where it is rolled back. It takes a connection of `svc.database` and sets no time limit on its
   * statements.
   *
   * @returns what `run` returns
   * @throws InvalidOption, InvalidTransaction, TransactionRolledBack, Unavailable, and what `run` throws
   * @example
   * const order = await app.svc.transaction(async (db) => {
   *   const { rows } = await db.query('insert into orders (item) values ($1) returning *', ['book'])
   *   await app.svc.events.publish('order.created', rows[0], { db })
   *   return rows[0]
   * })
   */
  transaction: <T>(run: (db: Db) => T | Promise<T>, options?: TransactionOptions) => Promise<T>
  /** The operations of this process, by their names. */
  actions: Actions
  /** Durable events: publish, subscribe, dead letters, search. */
  events: Events
  /** JSON values under keys, in Postgres. */
  kv: KeyValueStore
  /** Who changed which users, keys and webhooks. */
  audit: Audit
  /** Secrets by name, of the option `secrets`. */
  secrets: Secrets
  /**
   * Whether this process can do its work, and what waits in the queues of its database. Answers within
   * two seconds and never rejects: for the probes of a load balancer, see docs/operate/health-metrics-alerts.md. Up to
   * 10,000 jobs of a queue are counted exactly; of more the counts are a few seconds old.
   *
   * @example
   * app.get('/ready', async (_request, reply) => {
   *   const { database, listener } = await app.svc.health()
   *   return reply.code(database.ok && listener.ok ? 200 : 503).send({ database, listener })
   * })
   */
  health: () => Promise<Health>
  /** The host's pool, or the pool that svcCore made from the option `database`. */
  database: pg.Pool
  /** The started pg-boss, in the schema `svc_jobs`, or that of the option `schema`. */
  jobs: PgBoss
  /**
   * Encrypts what was stored before the option `encryption` was given, and what was encrypted with
   * another key than the first one: after it a former key can be taken out of the option.
   *
   * @returns how many rows were written
   * @throws InvalidOption without the option, DecryptionFailed where the key of a row is not given
   */
  reencrypt: () => Promise<{ reencrypted: number }>
  /**
   * Deletes what is kept of a tenant: users, keys, webhooks, rows of logs and statistics, events,
   * waiting jobs and dead letters. Rows of the audit stay, without `changes`. It takes many short
   * transactions; an interrupted erasure is finished by a second call. What is made or published
   * for the tenant meanwhile may stay.
   *
   * @returns how many rows were deleted, by kind
   * @throws InvalidInput for what is no tenant, IncompleteHost, Unavailable
   * @example
   * const { users, keys, events } = await app.svc.eraseTenant('acme')
   */
  eraseTenant: (tenant: string) => Promise<ErasedRows>
}

/**
 * What `fastify.svc` offers, to be extended by the plugins that add to it:
 * `declare module '@svc/core' { interface Svc { webhooks: WebhookOperations } }`
 */
export interface Svc extends CoreServices {}
