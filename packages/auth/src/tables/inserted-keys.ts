/** The keys whose rows were inserted lately, for processes that have refused them before. */
import type { Db } from '@svc/core/internal'
import { hashOfHex } from '../key-format.ts'
import { committedSince } from './transaction-snapshots.ts'

/** The keys inserted since a snapshot. */
export interface InsertedKeys {
  /** The snapshot of this reading, for the next one. */
  snapshot: string
  /** Hashes of the rows; `null`: too many to name, or an older state was restored. */
  hashes: string[] | null
}

const MAX_NAMED_KEYS = 1000

/** `since` is `null`: no row is read, and the first snapshot is returned. */
export async function findInsertedKeys(db: Db, since: string | null): Promise<InsertedKeys> {
  const { rows } = await db.query(
    `select snapshot::text, snapshot_xmax < pg_snapshot_xmax($1::pg_snapshot) as "isRestored",
            key_hash as hex
       from (select pg_current_snapshot() as snapshot,
                    pg_snapshot_xmax(pg_current_snapshot()) as snapshot_xmax) as moment
       left join svc."__svc.auth.api_keys" on ${committedSince('inserted_in', '$1')}
      limit $2`,
    [since, MAX_NAMED_KEYS + 1],
  )
  const { snapshot, isRestored } = rows[0]
  const isNamed = since !== null && !isRestored && rows.length <= MAX_NAMED_KEYS
  const hashes = rows.filter(({ hex }) => hex !== null).map(({ hex }) => hashOfHex(hex))
  return { snapshot, hashes: isNamed ? hashes : null }
}
