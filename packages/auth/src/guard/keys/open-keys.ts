/** What the guard knows of keys, put together: memory, lease, lookup, blocks and times of use. */
import type { Core } from '@svc/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import { findArrivals, findKeysByDigest, writeUses, type StoredKey } from '../../tables/api-keys.ts'
import { KEYS_CHANGED, readChanges } from '../../tables/key-changes.ts'
import { findEndedTransactions } from '../../tables/transactions.ts'
import { sweepFailures } from '../../tables/lockouts.ts'
import type { AuthSettings } from '../../options.ts'
import { ArrivalWatch } from './inserted-keys.ts'
import { BootstrapKey } from './bootstrap-key.ts'
import { preferringLine, preferringPool } from './connections.ts'
import { gathered } from './batch-lookup.ts'
import { isRejection, Keyring, UNKNOWN, type Finding } from './key-cache.ts'
import { knownKey } from './cached-key.ts'
import { LastUsed } from './last-used.ts'
import { Lease } from './cache-lease.ts'
import { missBudgets } from './token-bucket.ts'
import { narrow } from './limited-pool.ts'
import { RateLimiter, unwatched } from '../lockout/lockout.ts'
import { Recognizer, Undecided } from './authenticator.ts'
import { UncommittedChanges } from './uncommitted-changes.ts'

/** Longest wait for Postgres in the way of a request. */
const PATIENCE_MS = 2000
/** Connections that strangers can keep busy. */
const WIDTH_FOR_STRANGERS = 4
/** How often expired rows of failures are deleted. */
const SWEEP_MS = 60_000

export type Keys = Awaited<ReturnType<typeof openKeys>>

export async function openKeys(core: Core, settings: AuthSettings, log: FastifyBaseLogger) {
  const { svc } = core
  const asked = core.dbWithin(PATIENCE_MS)
  const db = preferringPool(svc.database, asked, core.notifications, PATIENCE_MS)
  const own = preferringLine(svc.database, asked, core.notifications, PATIENCE_MS)
  const forStrangers = narrow(db, WIDTH_FOR_STRANGERS, PATIENCE_MS)
  const budgets = missBudgets()
  const limiter = settings.rateLimit
    ? new RateLimiter(db, forStrangers, settings.rateLimit, { forPoll: own })
    : null
  const lastUsed = new LastUsed((uses) => writeUses(db, uses))
  const findKey = gathered((digests) => findKeysByDigest(forStrangers, digests))
  const keyring = new Keyring(async (digest, shape) => {
    const budget = budgets[shape]
    if (!budget.take()) throw new Undecided('too many unknown keys to look up')
    const finding = findingOf(await findKey(digest), limiter !== null)
    if (!isRejection(finding)) budget.giveBack()
    return finding
  })
  const bootstrapKey = new BootstrapKey({
    secrets: svc.secrets,
    name: settings.bootstrapKeySecret,
    log,
    forget: (digests) => keyring.drop(digests),
  })
  await bootstrapKey.read()
  const lease = new Lease({
    readChanges: (since) => readChanges(own, since),
    forget: (dropped) => (dropped === null ? keyring.clear() : keyring.drop(dropped)),
    refresh: async () => limiter?.refresh(),
  })
  const arrivals = new ArrivalWatch({
    findArrivals: (since) => findArrivals(own, since),
    welcome: (digests) => (digests === null ? keyring.welcomeAll() : keyring.welcome(digests)),
  })
  const uncommitted = new UncommittedChanges({
    findEnded: (transactionIds) => findEndedTransactions(own, transactionIds),
    cache: keyring,
  })
  const recognizer = new Recognizer({ keyring, lease, bootstrapKey, budgets, limiter })

  let sweep: NodeJS.Timeout | undefined

  return {
    log,
    keyring,
    lease,
    limiter,
    lastUsed,
    recognizer,
    uncommitted,
    async start() {
      core.notifications.listen(KEYS_CHANGED, () => lease.wake())
      await lease.renew()
      lease.start()
      await arrivals.start()
      lastUsed.start()
      bootstrapKey.start()
      if (!limiter) return
      sweep = setInterval(() => void sweepFailures(core.db).catch(() => {}), SWEEP_MS)
      sweep.unref()
    },
    async stop() {
      clearInterval(sweep)
      lease.stop()
      arrivals.stop()
      uncommitted.stop()
      bootstrapKey.stop()
      await lastUsed.stop()
    },
  }
}

function findingOf(key: StoredKey | undefined, isLimited: boolean): Finding {
  if (!key) return UNKNOWN
  const { id: keyId, userId, scopes, expiresAtMs } = key
  if (key.isRevoked) return { verdict: 'revoked', keyId }
  const auth = { userId, scopes, bootstrap: false, keyId }
  return knownKey(auth, expiresAtMs, isLimited ? unwatched(key.keyPrefix) : null)
}
