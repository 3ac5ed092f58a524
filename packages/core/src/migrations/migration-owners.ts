import type { Db } from '../postgres/transaction.ts'

/** The packages that have tables in this database. */
export async function findMigrationOwners(db: Db): Promise<string[]> {
  const { rows } = await db.query(
    'select distinct owner from svc."__svc.migrations" order by owner',
  )
  return rows.map(({ owner }: { owner: string }) => owner)
}
