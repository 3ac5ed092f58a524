/** Audit rows of changes of webhooks. */
import { BY_PROCESS, changesOf, insertAudit, type AuditOrigin, type Db } from '@svc/core/internal'

/** Fields whose values are never shown. */
const SECRETS = ['secret', 'headers']

interface Audited {
  id: string
  tenant?: string | null
  secret?: string
  createdAt?: unknown
  updatedAt?: unknown
}

/** The fields of a webhook, without its id and its times. */
const factsOf = ({
  id: _,
  createdAt: _created,
  updatedAt: _updated,
  ...facts
}: Partial<Audited>): Record<string, unknown> => facts

/** Writes which fields of a webhook changed; `null` is a webhook that does not exist. */
export async function auditChange(
  db: Db,
  by: AuditOrigin = BY_PROCESS,
  action: string,
  before: Audited | null,
  after: Audited | null,
): Promise<void> {
  const about = after ?? before
  const changes = changesOf(factsOf(before ?? {}), factsOf(after ?? {}), SECRETS)
  if (about && Object.keys(changes).length > 0) await auditWork(db, by, action, about, changes)
}

/** Writes what was done with the deliveries of a webhook, as `details`. */
export async function auditWork(
  db: Db,
  by: AuditOrigin = BY_PROCESS,
  action: string,
  { id, tenant = null }: Audited,
  details: Record<string, { from: unknown; to: unknown }>,
): Promise<void> {
  const target = { kind: 'webhook', id } as const
  await insertAudit(db, by, [{ tenant, action: `webhook.${action}`, target, changes: details }])
}
