/** One process at a time makes or changes tables. */
import { findLockHolder, describeBlocker } from './lock-holders.ts'
import { MigrationBlocked } from '../errors.ts'
import type { WorkerPool } from '../postgres/worker-pool.ts'
import { ADVISORY_LOCKS } from '../postgres/advisory-locks.ts'
import { isLockConflict, tryOf } from './lock-retries.ts'
import type { Db } from '../postgres/transaction.ts'
import { pause } from '../time.ts'

/** One lock for all packages: ten processes that boot at once on an empty database take turns. */
const TAKE = `select pg_try_advisory_xact_lock(${ADVISORY_LOCKS.migrations}) as taken`
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 500
const LOG_EVERY_MS = 5000

export interface BootLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
}

/** What a step of the boot that may wait works with. */
export interface Boot {
  workerPool: Pick<WorkerPool, 'transaction'>
  log: BootLog
  /** Aborts when the host closes. */
  signal: AbortSignal
  /** @default ten minutes */
  giveUpMs?: number
}

/** How long a boot waits for others before it fails. */
export const GIVE_UP_MS = 600_000

/**
 * Runs `run`, which uses other connections, while this process holds the migration lock. `lockDb`
 * is the connection with the lock: it can run statements too.
 *
 * @throws MigrationBlocked where another process holds the lock for ten minutes
 */
export function withMigrationLock<T>(boot: Boot, run: (lockDb: Db) => Promise<T>): Promise<T> {
  return boot.workerPool.transaction(async (lockDb) => {
    await withoutTimeLimits(lockDb)
    await waitForMigrationLock(boot, lockDb)
    return run(lockDb)
  })
}

async function waitForMigrationLock(boot: Boot, lockDb: Db): Promise<void> {
  const { log, signal, giveUpMs = GIVE_UP_MS } = boot
  const beganMs = performance.now()
  let loggedMs = beganMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
    const { rows } = await lockDb.query(TAKE)
    if (rows[0].taken) return
    signal.throwIfAborted()
    const nowMs = performance.now()
    const isOver = nowMs - beganMs > giveUpMs
    if (isOver || nowMs - loggedMs > LOG_EVERY_MS) {
      loggedMs = nowMs
      const heldBy = await findLockHolder(lockDb)
      const waitedSeconds = secondsOf(nowMs - beganMs)
      log.warn({ heldBy, waitedSeconds }, WAITS)
      if (isOver) {
        throw new MigrationBlocked(
          `svcCore: the boot has waited ${waitedSeconds} seconds for another process that makes or changes tables${heldBy ? ` (${describeBlocker(heldBy)})` : ''}: wait for its end, or end that session, and boot again`,
        )
      }
    }
    await pause(pauseMs * (0.5 + Math.random()), signal)
  }
}

const WAITS = 'boot waits for another process that makes or changes tables'

/**
 * The limits that a host sets for its role or database are meant for requests. On Citus, nothing is made on
 * workers: one that is away would make the migration fail.
 */
export async function withoutTimeLimits(db: Db): Promise<void> {
  await db.query(
    `select set_config(name, '0', true) from pg_settings
      where name in ('statement_timeout', 'lock_timeout', 'transaction_timeout',
                     'idle_in_transaction_session_timeout')
      union all
     select set_config('citus.enable_ddl_propagation', 'off', true) from pg_extension where extname = 'citus'`,
  )
}

export const secondsOf = (ms: number): number => Math.round(ms / 1000)

/** Calls `run` again until it got its locks. `failed` may end that with an error. */
export async function untilLocked(
  run: (lockMs: number) => Promise<void>,
  failed: (conflict: unknown) => void | Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  for (let failures = 0; ; failures++) {
    const { lockMs, pauseMs } = tryOf(failures)
    try {
      return await run(lockMs)
    } catch (error) {
      if (!isLockConflict(error)) throw error
      await failed(error)
    }
    await pause(pauseMs, signal)
  }
}
