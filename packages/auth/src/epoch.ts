/** The one row that every revocation raises. */
import type { Db } from '@svc/core/kit'
import type { Changes } from './guard/lease.ts'
import { digestOfHex, hexOf } from './key.ts'

/** The signal by which other processes read the epoch at once, rather than in a moment. */
export const KEYS_REVOKED = '__svc.auth.keys_revoked'

/** Who is further behind forgets everything. */
const CHANGES_KEPT = 256

/** Last in its transaction: the row's lock is held until the commit. */
export async function raiseEpoch(db: Db, digests: readonly string[]): Promise<void> {
  await db.query(
    `update svc."__svc.auth.epoch"
        set epoch = epoch + cardinality($1::text[]),
            dropped = (dropped || $1::text[])
              [greatest(1, cardinality(dropped) + cardinality($1::text[]) - $2::int + 1):]`,
    [digests.map(hexOf), CHANGES_KEPT],
  )
}

export async function readChanges(db: Db, since: number): Promise<Changes> {
  const { rows } = await db.query(
    `select epoch::float8 as epoch,
            case when epoch - $1::bigint between 0 and cardinality(dropped)
                 then dropped[cardinality(dropped) - (epoch - $1::bigint)::int + 1:] end as dropped
       from svc."__svc.auth.epoch"`,
    [since],
  )
  const [changes] = rows
  if (!changes) throw new Error('the row of svc."__svc.auth.epoch" is gone')
  const { epoch, dropped } = changes as { epoch: number; dropped: string[] | null }
  return { epoch, dropped: dropped && dropped.map(digestOfHex) }
}
