/** The one row that every change of keys raises, by a trigger on their table. */
import type { Db } from '@svc/core/internal'
import { digestOfHex } from '../key-format.ts'

/** What one reading of the row returns. */
export interface KeyChanges {
  epoch: number
  /** Digests to forget since the epoch that was asked about; `null`: too many, forget all. */
  dropped: readonly string[] | null
}

/** The channel on which the trigger tells of a change. */
export const KEYS_CHANGED = '__svc.auth.keys_changed'

export async function readChanges(db: Db, since: number): Promise<KeyChanges> {
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
