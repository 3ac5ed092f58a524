/** The one row that every change of keys raises, by a trigger on their table. */
import type { Db } from '@svc/core/kit'
import type { Changes } from './guard/lease.ts'
import { digestOfHex } from './key.ts'

/** The channel on which the trigger tells of a change. */
export const KEYS_CHANGED = '__svc.auth.keys_changed'

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
