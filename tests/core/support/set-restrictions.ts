import type { Db } from '@svc/core'
import type { Restrictions } from '../../../packages/core/src/jobs/pg-boss/recipient-states-table.ts'
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

/** The jobs of the recipient go on as those of any other. */
export async function liftRestrictions(db: Db, queue: string, recipient: string): Promise<void> {
  await db.query('select svc."__svc.lift_restrictions"($1, $2)', [queue, recipient])
}
