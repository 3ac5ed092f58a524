import type { Db } from '../postgres/transaction.ts'

/** A package that has tables in this database. */
export interface MigrationOwner {
  name: string
  /** Its function that deletes what it keeps of a tenant, where it has one. */
  eraseTenant: string | null
}

export async function findMigrationOwners(db: Db): Promise<MigrationOwner[]> {
  const { rows } = await db.query(
    `select name, to_regproc(function)::text as "eraseTenant"
       from (select distinct owner as name,
                    format('svc.%I', '__svc.' || split_part(owner, '/', 2) || '.erase_tenant') as function
               from svc."__svc.migrations") as owners
      order by name`,
  )
  return rows
}

/** Calls a function of {@link MigrationOwner}: how many rows it deleted, by kind. */
export async function eraseByFunction(
  db: Db,
  eraseTenant: string,
  tenant: string,
): Promise<Record<string, number>> {
  // Postgres has quoted the name itself.
  const { rows } = await db.query(`select kind, erased::int from ${eraseTenant}($1)`, [tenant])
  return Object.fromEntries(rows.map((row: ErasedKind) => [row.kind, row.erased]))
}

interface ErasedKind {
  kind: string
  erased: number
}
