/** The one row that every change of keys raises, by a trigger on their table. */
import type { Db } from '@svc/core/internal'
import { hashOfHex } from '../key-format.ts'

/** What one reading of the row returns. */
export interface KeyChanges {
  revision: number
  /** Hashes of the keys that changed since the given revision; `null`: too many to name. */
  changedHashes: readonly string[] | null
}

/** The channel on which the trigger notifies of a change. */
export const KEYS_CHANGED = '__svc.auth.keys_changed'

export async function readKeyChanges(db: Db, since: number): Promise<KeyChanges> {
  const { rows } = await db.query(
    `select epoch::float8 as revision,
            case when epoch - $1::bigint between 0 and cardinality(dropped)
                 then dropped[cardinality(dropped) - (epoch - $1::bigint)::int + 1:] end as hexes
       from svc."__svc.auth.epoch"`,
    [since],
  )
  const [changes] = rows
  if (!changes) throw new Error('the row of svc."__svc.auth.epoch" is missing')
  const { revision, hexes } = changes as { revision: number; hexes: string[] | null }
  return { revision, changedHashes: hexes && hexes.map(hashOfHex) }
}
