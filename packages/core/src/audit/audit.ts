/** `svc.audit`. */
import { readOperation } from '../actions/define-operation.ts'
import type { Db } from '../postgres/transaction.ts'
import { EVERYWHERE } from '../tenants/tenants.ts'
import { AuditQuery, type AuditEntry } from './audit-entry.ts'
import { listAudit } from './audit-table.ts'

/** Who changed which users, keys and webhooks. */
export interface Audit {
  /**
   * Changes, newest first: all of them without a `limit`.
   *
   * @throws InvalidInput, Unavailable
   * @example
   * const changes = await app.svc.audit.list({ tenant: 'acme', action: 'key.create', limit: 50 })
   */
  list: (query?: AuditQuery) => Promise<AuditEntry[]>
}

export function createAudit(db: Db): Audit {
  const list = readOperation(AuditQuery, ({ tenant, ...query }) =>
    listAudit(db, tenant ?? EVERYWHERE, query),
  )
  return { list: (query = {}) => list(query) }
}
