/**
 * The connections that reads run on: lists, searches, counts, statistics. Apart from those of publishes,
 * deliveries and the guard, so that no read makes these wait. A connection opens with the first read, and
 * is closed after a minute without one.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { Busy } from '../errors.ts'
import { handleClientErrors } from './client-errors.ts'
import { withServerOptions } from './connection-config.ts'
import { poolWithQueryTimeout } from './query-timeout.ts'
import type { SchemaNames, StatementPool } from './schema-names.ts'
import { AT_START, markBegunWith, markPooled } from './session-settings.ts'
import { transaction, type Db, type Terms } from './transaction.ts'
import { within } from '../time.ts'

/** Longest duration of a statement of a read, here and in the server. */
export const READ_TIMEOUT_MS = 5000
/** How long a statement waits for its turn: longer than one that runs can take. */
const TURN_WITHIN_MS = 10_000
const IDLE_MS = 60_000
const OPTIONS = [
  AT_START,
  `-c statement_timeout=${READ_TIMEOUT_MS}`,
  '-c default_transaction_read_only=on',
  String.raw`-c default_transaction_isolation=read\ committed`,
  '-c jit=off',
].join(' ')

/** The tenant on whose behalf the code of a call runs: absent for the operator and for code of the process. */
const tenantOfCall = new AsyncLocalStorage<string>()

/** Runs `work`, whose reads wait in the line of this tenant; `null`: in that of the operator. */
export const readingFor = <T>(tenant: string | null, work: () => T): T =>
  tenant === null ? work() : tenantOfCall.run(tenant, work)

export class Readers implements Db {
  readonly pool: pg.Pool & StatementPool
  #direct: Db
  #turns: Turns

  constructor(
    config: pg.PoolConfig,
    max: number,
    {
      pooled,
      logError,
      names,
    }: { pooled: boolean; logError: (error: Error) => void; names?: SchemaNames | undefined },
  ) {
    const pool = new pg.Pool({
      ...(pooled ? config : withServerOptions(config, OPTIONS)),
      max,
      min: 0,
      idleTimeoutMillis: config.idleTimeoutMillis ?? IDLE_MS,
    })
    this.pool = Object.assign(pool, { names })
    const mark = pooled ? markPooled : markBegunWith
    mark(pool)
    this.pool.on('error', logError)
    handleClientErrors(this.pool)
    this.#direct = poolWithQueryTimeout(this.pool, READ_TIMEOUT_MS)
    this.#turns = new Turns(max)
  }

  query(text: string, values?: unknown[]): ReturnType<Db['query']> {
    return this.#turns.take(() => this.#direct.query(text, values))
  }

  transaction<T>(run: (db: Db) => Promise<T>, terms: Terms): Promise<T> {
    return this.#turns.take(() => transaction(this.pool, run, terms))
  }
}

/**
 * Whose statement is next. The operator and the process come first, then tenants in turns; where there
 * are two connections or more, no tenant has them all.
 */
export class Turns {
  #free: number
  #mostOfTenant: number
  #running = new Map<string, number>()
  #waiting = new Map<string | null, (() => void)[]>()

  constructor(connections: number) {
    this.#free = connections
    this.#mostOfTenant = Math.max(1, connections - 1)
  }

  /** @throws Busy where it was not its turn for ten seconds */
  async take<T>(work: () => Promise<T>): Promise<T> {
    const tenant = tenantOfCall.getStore() ?? null
    if (this.#mayStart(tenant)) this.#count(tenant, 1)
    else await this.#turn(tenant)
    try {
      return await work()
    } finally {
      this.#count(tenant, -1)
      this.#startNext()
    }
  }

  #mayStart(tenant: string | null): boolean {
    const isFree = this.#free > 0
    return isFree && (tenant === null || (this.#running.get(tenant) ?? 0) < this.#mostOfTenant)
  }

  #count(tenant: string | null, by: 1 | -1): void {
    this.#free -= by
    if (tenant === null) return
    const running = (this.#running.get(tenant) ?? 0) + by
    if (running === 0) this.#running.delete(tenant)
    else this.#running.set(tenant, running)
  }

  async #turn(tenant: string | null): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const line = this.#waiting.get(tenant) ?? []
    this.#waiting.set(tenant, line)
    line.push(resolve)
    await within(TURN_WITHIN_MS, promise, () => {
      line.splice(line.indexOf(resolve), 1)
      if (line.length === 0) this.#waiting.delete(tenant)
      throw new Busy('reads')
    })
  }

  #startNext(): void {
    const tenants = [null, ...this.#waiting.keys()]
    const tenant = tenants.find((one) => this.#waiting.has(one) && this.#mayStart(one))
    if (tenant === undefined) return
    const line = this.#waiting.get(tenant) ?? []
    const next = line.shift()
    // To the end of the order, where more of it wait.
    this.#waiting.delete(tenant)
    if (line.length > 0) this.#waiting.set(tenant, line)
    if (next === undefined) return
    this.#count(tenant, 1)
    next()
  }
}
