/** Databases whose transactions have another isolation level unless told otherwise. */
import pg from 'pg'
import { queryOn } from './session.ts'

export const LEVELS = ['repeatable read', 'serializable'] as const

/** Connections that are made from now on begin with this level. */
export async function setDefaultLevel(
  database: string,
  level: (typeof LEVELS)[number],
): Promise<void> {
  const name = pg.escapeIdentifier(new URL(database).pathname.slice(1))
  await queryOn(database, `alter database ${name} set default_transaction_isolation = '${level}'`)
}
