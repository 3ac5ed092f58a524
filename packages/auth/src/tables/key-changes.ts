/** The one row that every change of keys raises, by a trigger on their table, and every change of a plan. */
import type { Db } from '@svc/core/internal'
import { hashOfHex } from '../key-format.ts'

/** A state of the row. */
export interface Revision {
  revision: number
  /**
   * A random number of its last change; `null` before the first one. A failover or a crash may lose the last
   * changes, and others then get the same revisions.
   */
  mark: number | null
}

/** What one reading of the row returns. */
export interface KeyChanges extends Revision {
  /**
   * What changed since the given state: hashes of keys, and what {@link tenantOfChange} reads; `null`: too
   * much to name, or the database went back behind that state.
   */
  changed: readonly string[] | null
}

type Row = Omit<KeyChanges, 'changed'> & { dropped: string[] | null }

const PLAN = 'plan:'

/** The tenant whose plan has changed; `undefined` where a key has. */
export const tenantOfChange = (changed: string): string | undefined =>
  changed.startsWith(PLAN) ? changed.slice(PLAN.length) : undefined

/** Tells every process that the plan of a tenant has changed, from the commit on. */
export async function tellPlanChanged(db: Db, tenant: string): Promise<void> {
  await db.query('select svc."__svc.auth.tell_changed"(array[$1::text])', [PLAN + tenant])
}

/** The channel on which the trigger notifies of a change. */
export const KEYS_CHANGED = '__svc.auth.keys_changed'

export async function readKeyChanges(db: Db, since: Revision): Promise<KeyChanges> {
  const { rows } = await db.query(
    `select epoch::float8 as revision, marks[cardinality(marks)] as mark,
            case when epoch - $1::bigint between 0 and cardinality(dropped)
                  and marks[cardinality(marks) - (epoch - $1::bigint)::int]
                      is not distinct from $2::float8
                 then dropped[cardinality(dropped) - (epoch - $1::bigint)::int + 1:] end as dropped
       from svc."__svc.auth.epoch"`,
    [since.revision, since.mark],
  )
  const [changes] = rows
  if (!changes) throw new Error('the row of svc."__svc.auth.epoch" is missing')
  const { dropped, ...rest } = changes as Row
  return { ...rest, changed: dropped && dropped.map(changeOf) }
}

const changeOf = (entry: string): string => (entry.startsWith(PLAN) ? entry : hashOfHex(entry))
