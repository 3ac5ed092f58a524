import { readdir, readFile } from 'node:fs/promises'
import { letCitusKnow, type CitusBoot } from './citus.ts'
import { findBlocked, describeBlocker, type Blocked } from './lock-holders.ts'
import type { StatementPool } from '../postgres/schema-names.ts'
import { transaction, type Db } from '../postgres/transaction.ts'
import { MigrationBlocked, SchemaTooNew } from '../errors.ts'
import { findMissingParts } from './made-parts.ts'
import { assertNoMissingSchema } from './missing-schema.ts'
import { createMigrationsTable, findApplied, handOver, recordApplied } from './migrations-table.ts'
import { poolWithQueryTimeout } from '../postgres/query-timeout.ts'
import {
  GIVE_UP_MS,
  untilLocked,
  withMigrationLock,
  secondsOf,
  withoutTimeLimits,
  type Boot,
} from './migration-lock.ts'

export interface MigrationBoot extends CitusBoot {
  /** The option `migrate` is 'check': nothing is made. */
  isCheck?: boolean
}

/** A migration that has its locks may rewrite a large table. */
const LONGEST_MS = 24 * 3600_000
const LOG_EVERY_MS = 5000
const CHECK_EVERY_MS = 100

/**
 * Runs the files of `folder` that have not run yet, in the order of their names, each in a
 * transaction of its own. Forward only: a file that was shipped never changes.
 *
 * A file that cannot get a lock within moments is rolled back and tried again: what waits for a
 * table keeps the publishes of running processes waiting behind it.
 *
 * @throws MigrationBlocked with the table and the session, where no try of ten minutes got a lock,
 *   SchemaMissing where nothing is to be made and something is missing, SchemaTooNew where a later
 *   version has made tables that this one cannot use
 */
export async function migrate(boot: MigrationBoot, owner: string, folder: URL): Promise<void> {
  const db = poolWithQueryTimeout(boot.pool)
  const { names, pending } = await findPending(db, owner, folder)
  if (boot.isCheck) {
    assertNoMissingSchema(pending, owner)
    assertNoMissingSchema(await findMissingParts(db, folder, names), owner)
  }
  if (pending.length > 0) {
    await withMigrationLock(boot, async (lockDb) => {
      await createMigrationsTable(db)
      for (const name of without(names, await findApplied(db, owner))) {
        const text = await readFile(new URL(name, folder), 'utf8')
        await runFile(boot, lockDb, { owner, name, text })
      }
      await handOver(db)
    })
  }
  await letCitusKnow(boot, owner)
}

/** The files of the folder, and those of them that have not run. @throws SchemaTooNew */
export async function findPending(
  db: Db,
  owner: string,
  folder: URL,
): Promise<{ names: string[]; pending: string[] }> {
  const files = await readdir(folder)
  const names = files.filter((name) => name.endsWith('.sql')).toSorted()
  const applied = await findApplied(db, owner)
  assertNotTooNew(applied, owner, names)
  return { names, pending: without(names, applied) }
}

const without = (names: string[], applied: Set<string>): string[] =>
  names.filter((name) => !applied.has(name))

interface Migration {
  owner: string
  name: string
  text: string
}

async function runFile(boot: MigrationBoot, lockDb: Db, migration: Migration): Promise<void> {
  const { owner, name } = migration
  const watch = new LockWatch(boot, lockDb, { owner, name })
  try {
    await untilLocked(
      (lockMs) => tryFile(boot.pool, watch, migration, lockMs),
      (conflict) => watch.failed(conflict),
      boot.signal,
    )
  } finally {
    await watch.close()
  }
}

async function tryFile(
  pool: StatementPool,
  watch: LockWatch,
  { owner, name, text }: Migration,
  lockMs: number,
): Promise<void> {
  await transaction(
    pool,
    async (db) => {
      await withoutTimeLimits(db)
      await db.query(`select set_config('lock_timeout', $1, true)`, [`${lockMs}ms`])
      const { rows } = await db.query('select pg_backend_pid() as pid')
      watch.start(rows[0].pid)
      // Where the connection with the migration lock is lost, another process takes the lock.
      await db.query(`lock table svc."__svc.migrations" in share row exclusive mode`)
      if ((await findApplied(db, owner)).has(name)) return
      await db.query(text)
      await recordApplied(db, owner, name)
    },
    { timeoutMs: LONGEST_MS },
  ).finally(() => watch.stop())
}

/**
 * Watches a migration from the connection that holds the migration lock, and logs what it waits
 * for.
 */
class LockWatch {
  #boot: Boot
  #lockDb: Db
  #about: { owner: string; name: string }
  #beganMs = performance.now()
  #loggedMs = this.#beganMs
  #pid: number | undefined
  #timer: NodeJS.Timeout | undefined
  #checking: Promise<void> = Promise.resolve()
  #blocked: Blocked | undefined

  constructor(boot: Boot, lockDb: Db, about: { owner: string; name: string }) {
    this.#boot = boot
    this.#lockDb = lockDb
    this.#about = about
  }

  start(pid: number): void {
    this.#pid = pid
    this.#timer ??= setInterval(() => {
      this.#checking = this.#checking.then(() => this.#check()).catch(() => {})
    }, CHECK_EVERY_MS)
  }

  stop(): void {
    this.#pid = undefined
  }

  /** @throws MigrationBlocked when there have been ten minutes of tries */
  async failed(cause: unknown): Promise<void> {
    await this.#checking
    const waitedSeconds = secondsOf(performance.now() - this.#beganMs)
    this.#logProgress(WAITS, { waitedSeconds, ...this.#blocked })
    if (performance.now() - this.#beganMs < (this.#boot.giveUpMs ?? GIVE_UP_MS)) return
    const { owner, name } = this.#about
    const { table, blockers = [] } = this.#blocked ?? {}
    const by =
      blockers.length > 0 ? ` that is held by ${blockers.map(describeBlocker).join(' and ')}` : ''
    throw Object.assign(
      new MigrationBlocked(
        `svcCore: the migration ${name} of ${owner} has waited ${waitedSeconds} seconds for a lock${table ? ` on ${table}` : ''}${by}: end that transaction, and boot again`,
      ),
      { cause },
    )
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#checking
  }

  async #check(): Promise<void> {
    if (this.#pid === undefined) return
    const blocked = await findBlocked(this.#lockDb, this.#pid)
    if (blocked) this.#blocked = blocked
    else this.#logProgress(RUNS, { seconds: secondsOf(performance.now() - this.#beganMs) })
  }

  #logProgress(message: string, details: object): void {
    const nowMs = performance.now()
    if (nowMs - this.#loggedMs < LOG_EVERY_MS) return
    this.#loggedMs = nowMs
    const level = message === WAITS ? 'warn' : 'info'
    this.#boot.log[level]({ migration: this.#about, ...details }, message)
  }
}

const RUNS = 'migration running'
const WAITS =
  'migration waits for a lock: end the transaction that holds it; where svcCore is registered within another plugin, the time limit of that plugin (the option pluginTimeout of Fastify) must be longer than this wait'

const BREAKING = '.breaking.sql'

/** @throws SchemaTooNew */
function assertNotTooNew(applied: Iterable<string>, owner: string, known: string[]): void {
  const breaking = [...applied].filter((name) => name.endsWith(BREAKING) && !known.includes(name))
  if (breaking.length === 0) return
  throw new SchemaTooNew(
    `svcCore: the database has tables of a later version of ${owner}, which this version cannot use (${breaking.join(', ')}): deploy that version or a later one`,
  )
}
