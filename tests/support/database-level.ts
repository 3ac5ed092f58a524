/** Databases whose transactions have another isolation level unless told otherwise. */
import pg from 'pg'

export const LEVELS = ['repeatable read', 'serializable'] as const

/** Connections that are made from now on begin with this level. */
export async function setDefaultLevel(
  database: string,
  level: (typeof LEVELS)[number],
): Promise<void> {
  const client = new pg.Client(database)
  await client.connect()
  const { rows } = await client.query('select current_database() as name')
  await client.query(
    `alter database ${pg.escapeIdentifier(rows[0].name)} set default_transaction_isolation = '${level}'`,
  )
  await client.end()
}
