/**
 * The restrictions of recipients, in the table of recipients. They hold over all processes. The package whose
 * recipients they are sets them, by the function "__svc.restrict_recipient".
 */
import type { Db } from '../../postgres/transaction.ts'

export interface Restrictions {
  /** The rate: at most `limit` attempts begin in any span of `perSeconds`. */
  rateLimit: { limit: number; perSeconds: number } | null
  maxInFlight: number | null
  /** One job at a time, the oldest first. One that waits for its next attempt holds the others. */
  ordered: boolean
}

export const isRestricted = ({ rateLimit, maxInFlight, ordered }: Restrictions): boolean =>
  rateLimit !== null || maxInFlight !== null || ordered

/** Deletes grants that no rate counts any more: the longest span is a day. */
export async function sweepGrants(db: Db): Promise<void> {
  await db.query(
    `delete from svc."__svc.attempt_grants" where begun_by < now() - interval '2 days'`,
  )
}
