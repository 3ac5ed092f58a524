/** Puts the parts of authentication together: cache, lease, lookups, lockout, limits and uses. */
import { randomUUID } from 'node:crypto'
import type { Core } from '@svc/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import { shiftKeyTimes, writeLastUsed } from '../../tables/api-keys.ts'
import { KEYS_CHANGED, readKeyChanges, tenantOfChange } from '../../tables/key-changes.ts'
import { shiftFailures, sweepFailures } from '../../tables/lockouts.ts'
import { addUsage, sweepUsage } from '../../tables/usage.ts'
import { findEndedTransactions } from '../../tables/transactions.ts'
import { Allowances } from '../../limits/allowances.ts'
import { Plans } from '../../limits/plans.ts'
import type { AuthSettings } from '../../options.ts'
import type { ScopeNames } from '../../scopes.ts'
import { UsageCounter } from '../../usage/usage-counter.ts'
import { Lockout } from '../lockout/lockout.ts'
import { shiftAllowances, sweepWindows } from '../../tables/allowances.ts'
import { Authenticator } from './authenticator.ts'
import { BootstrapKey } from './bootstrap-key.ts'
import { CacheLease } from './cache-lease.ts'
import { preferListener, preferPool, withAtMost } from './statements.ts'
import { ForeignKeys } from './foreign-keys.ts'
import { KeyCache } from './key-cache.ts'
import { createKeyLookup } from './key-lookup.ts'
import { LastUsed } from './last-used.ts'
import { createLookupBudgets } from './token-bucket.ts'
import { UncommittedChanges } from './uncommitted-changes.ts'

/** Longest wait of a request for Postgres. */
const QUERY_TIMEOUT_MS = 2000
/** Connections that requests with unknown keys can keep busy. */
const MAX_LOOKUP_CONNECTIONS = 4
/** How often expired rows of failures are deleted. */
const SWEEP_SECONDS = 60
const WINDOWS_SWEEP_SECONDS = 300

export type Authentication = Awaited<ReturnType<typeof createAuthentication>>

export async function createAuthentication(
  core: Core,
  settings: AuthSettings,
  names: ScopeNames,
  log: FastifyBaseLogger,
) {
  const { svc } = core
  const pool = core.db.within(QUERY_TIMEOUT_MS)
  const db = preferPool(svc.database, pool, core.notifications, QUERY_TIMEOUT_MS)
  const pollDb = preferListener(svc.database, pool, core.notifications, QUERY_TIMEOUT_MS)
  const lookupDb = withAtMost(db, MAX_LOOKUP_CONNECTIONS, QUERY_TIMEOUT_MS)
  const { lookups, failures } = createLookupBudgets()
  // Milliseconds by which the testing kit has advanced the clock.
  let aheadMs = 0
  const now = () => performance.now() + aheadMs
  const lockout = settings.rateLimit
    ? new Lockout(db, lookupDb, settings.rateLimit, { pollDb, now })
    : null
  const lastUsed = new LastUsed((uses) => writeLastUsed(db, uses), log)
  const { tenantLimits, plans: offered, planOf } = settings
  const tenantPeriods = Object.values(offered ?? {}).flatMap(({ tenantQuota }) =>
    tenantQuota ? [tenantQuota.period] : [],
  )
  const allowances = new Allowances({
    db,
    tenantLimits,
    tenantPeriods: [...new Set(tenantPeriods)],
    log,
    now,
  })
  const plans = offered && planOf ? new Plans({ plans: offered, planOf, log, now }) : null
  const writer = randomUUID()
  const usage = settings.usage
    ? new UsageCounter((portion) => addUsage(db, writer, portion), log)
    : null
  const hash = settings.importedKeys?.hash
  const keyCache = new KeyCache(
    createKeyLookup({
      db: lookupDb,
      budgets: lookups,
      names,
      limitsOf: (key) => allowances.limitsOf(key),
      hasPlans: plans !== null,
      isLockoutEnabled: lockout !== null,
      foreignKeys: hash ? new ForeignKeys({ hash, db, timeoutMs: QUERY_TIMEOUT_MS, log }) : null,
    }),
  )
  const bootstrapKey = new BootstrapKey({
    secrets: svc.secrets,
    name: settings.bootstrapKeySecret,
    log,
    forget: (hashes) => keyCache.forget(hashes),
  })
  await bootstrapKey.read()
  const lease = new CacheLease({
    readKeyChanges: (since) => readKeyChanges(pollDb, since),
    forget(changed) {
      if (changed === null) {
        keyCache.forgetAll()
        plans?.forgetAll()
        return
      }
      keyCache.forget(changed)
      for (const tenant of changed.map(tenantOfChange)) {
        if (tenant !== undefined) plans?.forget(tenant)
      }
    },
    refresh: async () => lockout?.refresh(),
    log,
  })
  const findEnded = (transactionIds: string[]) => findEndedTransactions(pollDb, transactionIds)
  const uncommitted = new UncommittedChanges(findEnded, keyCache)
  const { keyPrefix: letters } = settings
  const limitsOf = allowances.limitsOf.bind(allowances)
  const parts = { keyCache, lease, bootstrapKey, failures, lockout, plans, limitsOf, letters }
  const authenticator = new Authenticator(parts)

  for (const rows of [shiftKeyTimes, shiftAllowances, shiftFailures]) core.onAdvance({ rows })
  core.onAdvance({
    async memory(seconds) {
      aheadMs += seconds * 1000
      keyCache.forgetAll()
      plans?.sweep()
      await bootstrapKey.read()
    },
  })

  // Also where no jobs run: those processes may have no guard.
  const sweep = (
    seconds: number,
    name: string,
    run: (db: Core['db'], stopping: AbortSignal) => Promise<void>,
  ): void => core.every(seconds, name, (stopping) => run(core.db, stopping), { everywhere: true })
  if (lockout) sweep(SWEEP_SECONDS, 'expired rows of failed attempts', sweepFailures)
  if (usage) sweep(SWEEP_SECONDS, 'old rows of usage', sweepUsage)
  sweep(WINDOWS_SWEEP_SECONDS, 'windows of limits that have passed', sweepWindows)

  return {
    log,
    keyCache,
    lease,
    lockout,
    lastUsed,
    allowances,
    plans,
    usage,
    authenticator,
    bootstrapKey,
    uncommitted,
    async start() {
      core.notifications.listen(KEYS_CHANGED, () => lease.wake())
      await lease.renew()
      lease.start()
      lastUsed.start()
      bootstrapKey.start()
      allowances.start()
      plans?.start()
      usage?.start()
    },
    async stop() {
      lease.stop()
      uncommitted.stop()
      bootstrapKey.stop()
      plans?.stop()
      await Promise.all([lastUsed.stop(), usage?.stop(), allowances.stop()])
    },
  }
}
