/** The one row that every change of keys raises, by a trigger on their table. */
import type { Db } from '@svc/core/internal'
import { hashOfHex } from '../key-format.ts'

/** What one reading of the row returns. */
export interface KeyChanges {
  revision: number
  /**
   * When the server that answered was started, as text: another server may have taken over without the
   * last changes, and give other changes the same revisions.
   */
  serverStart: string
  /** Hashes of the keys that changed since the given revision; `null`: too many to name. */
  changedHashes: readonly string[] | null
}

type Row = Omit<KeyChanges, 'changedHashes'> & { hexes: string[] | null }

/** The channel on which the trigger notifies of a change. */
export const KEYS_CHANGED = '__svc.auth.keys_changed'

export async function readKeyChanges(db: Db, since: number): Promise<KeyChanges> {
  const { rows } = await db.query(
    `select epoch::float8 as revision,
            extract(epoch from pg_postmaster_start_time())::text as "serverStart",
            case when epoch - $1::bigint between 0 and cardinality(dropped)
                 then dropped[cardinality(dropped) - (epoch - $1::bigint)::int + 1:] end as hexes
       from svc."__svc.auth.epoch"`,
    [since],
  )
  const [changes] = rows
  if (!changes) throw new Error('the row of svc."__svc.auth.epoch" is missing')
  const { hexes, ...rest } = changes as Row
  return { ...rest, changedHashes: hexes && hexes.map(hashOfHex) }
}
