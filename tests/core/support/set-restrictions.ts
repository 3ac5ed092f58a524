import type { Db } from '@svc/core'
import type { Restrictions } from '../../../packages/core/src/jobs/pg-boss/restrictions-table.ts'
import { RECIPIENT, QUEUE } from './worker.ts'

/** Restricts the recipient, as the package whose recipients they are does. */
export async function setRestrictions(
  db: Db,
  { rateLimit, maxInFlight, ordered }: Restrictions,
): Promise<void> {
  const { limit = null, perSeconds = null } = rateLimit ?? {}
  const values = [QUEUE, RECIPIENT, limit, perSeconds, maxInFlight, ordered]
  await db.query('select svc."__svc.restrict_recipient"($1, $2, $3, $4, $5, $6)', values)
}
