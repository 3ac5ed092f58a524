/** The context of the operations. */
import {
  actorOf,
  BY_PROCESS,
  insertAudit,
  operationFor,
  originOf,
  reachOf,
  type AuditOrigin,
  type AuditRecord,
  type Core,
  type Db,
  type OperationCaller,
  type Reach,
} from '@svc/core/internal'
import type { FastifyRequest } from 'fastify'
import { AuthUnavailable } from '../errors.ts'
import type { Authentication } from '../guard/keys/authentication.ts'
import type { Auth } from '../guard/keys/key-cache.ts'
import type { Plan } from '../limit-fields.ts'
import { NO_PLAN, type TenantPlan } from '../limits/plans.ts'
import type { AuthSettings } from '../options.ts'
import type { Period } from '../tables/allowances.ts'
import type { ScopeNames } from '../scopes.ts'
import type { KeyEvent } from './key-records.ts'
import { findTransactionId } from '../tables/transactions.ts'

/** Who calls an operation, and what it may do. */
export interface OperationCall extends OperationCaller {
  /**
   * The caller: a key may not grant more than it has, and reaches no tenant but its own.
   * `undefined` for code of this process, which has no such bounds; `null` for a request without a
   * key.
   */
  caller?: Auth | null | undefined
  /** Whether it may loosen what others have set on a key. @default true */
  mayLoosen?: boolean | undefined
  /** The caller as the audit names it. @default derived from `caller` */
  origin?: AuditOrigin | undefined
}

export const operation = operationFor<OperationCall>()

/** The call that a request makes. */
export const callOf = (request: FastifyRequest): OperationCall => ({
  caller: request.auth,
  origin: originOf(request),
})

/** The audit row of a change, and the event that is published about it. */
export interface Change extends AuditRecord {
  event?: KeyEvent
}

/** The result of a change of keys, and the hashes of the changed keys. */
export interface KeyChange<T> {
  hashes: string[]
  result: T
}

export type OperationContext = ReturnType<typeof createOperationContext>

export function createOperationContext(
  core: Core,
  authentication: Authentication,
  settings: AuthSettings,
  scopes: ScopeNames,
) {
  const { allowances, keyCache, lastUsed, lease, log, plans, uncommitted, usage } = authentication

  const publish = async (db: Db, { name, payload }: KeyEvent): Promise<void> => {
    const { tenant } = payload
    await core.bus.publish([{ name, payload: JSON.stringify(payload), tenant }], { db })
  }

  /** Without a name and with no limits where there are no plans. @throws PlanUnknown, AuthUnavailable */
  const tenantPlan = async (tenant: string | null): Promise<Pick<TenantPlan, 'name' | 'plan'>> => {
    if (!plans || tenant === null) return { name: null, plan: NO_PLAN }
    // Where there are no requests the process does not read which plans have changed.
    if (!lease.isHeld()) await orUnavailable(lease.renew())
    return plans.of(tenant)
  }

  return {
    db: core.requestDb,
    /** For what only reads. */
    readDb: core.readDb,
    log,
    /** Scopes that may be granted. */
    scopes,
    settings,
    hasPlans: Boolean(plans),
    planOf: async (tenant: string | null): Promise<Plan> => (await tenantPlan(tenant)).plan,
    planNameOf: async (tenant: string | null) => (await tenantPlan(tenant)).name,
    /** What this process holds of a limit or quota, and has not used. */
    heldHere: (subject: string, period: Period) => allowances.limiter.heldOf(subject, period),
    /** Forgets the plan of a tenant in this process. */
    forgetPlan: (tenant: string) => plans?.forget(tenant),
    /** Writes the times of use that this process has recorded. @throws AuthUnavailable */
    writeLastUsed: () => orUnavailable(lastUsed.flush()),
    /** Writes the usage that this process has counted. @throws AuthUnavailable */
    writeUsage: () => orUnavailable(usage?.flush()),
    publish,

    /** Runs `run` in the transaction of the call, or in one of its own. */
    within: <T>({ db }: OperationCall, run: (tx: Db) => Promise<T>) => core.within(db, run),

    /** Writes changes into the audit and publishes their events, in the transaction that made them. */
    record: async (
      db: Db,
      { caller, origin }: OperationCall,
      ...changes: Change[]
    ): Promise<void> => {
      const by = origin ?? { ...BY_PROCESS, actor: actorOf(caller) }
      const records = changes.map(({ event: _event, ...record }) => record)
      await insertAudit(db, by, records)
      for (const { event } of changes) if (event) await publish(db, event)
    },

    /**
     * Runs `change`, a change of keys, in the transaction of the call, or in one of its own. From the
     * commit on this process looks the keys up again; the others read of it in the row of key changes.
     */
    changeKeys: async <T>(
      { db }: OperationCall,
      change: (tx: Db) => Promise<KeyChange<T>>,
    ): Promise<T> => {
      if (db === undefined) {
        const { hashes, result } = await core.within(undefined, change)
        keyCache.forget(hashes)
        return result
      }
      const transactionId = await findTransactionId(db)
      const { hashes, result } = await change(db)
      uncommitted.add(transactionId, hashes)
      return result
    },
  }
}

/** If a write fails, the counts go into the next batch, and this answer lacks them. */
async function orUnavailable(written: Promise<void> | undefined): Promise<void> {
  try {
    await written
  } catch {
    throw new AuthUnavailable()
  }
}

/** Whose rows the caller reaches. */
export const reachOfCall = ({ caller }: OperationCall): Reach => reachOf(caller)

/** Log fields of an operation: the key that called it, and whether it may be rolled back. */
export const performedBy = ({ db, caller, origin }: OperationCall): object => ({
  by: caller?.keyId ?? (caller?.bootstrap ? 'the bootstrap key' : nameOf(origin)),
  ...(db === undefined ? {} : { inTransaction: true }),
})

const nameOf = (origin: AuditOrigin | undefined): string =>
  origin?.actor.kind === 'console' ? 'the console' : 'the application'
