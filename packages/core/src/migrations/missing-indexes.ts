/**
 * Indexes that a migration builds only where their table is small, because the build blocks those
 * who write to it. The folder `sql/indexes` of a package has the statement that builds one later, in
 * a file with the name of the index.
 */
import { readdir, readFile } from 'node:fs/promises'
import type { Db } from '../postgres/transaction.ts'
import type { BootLog } from './migration-lock.ts'

export const INDEXES = 'indexes'
const EXTENSION = '.sql'

/** @param folder that of the migrations */
export async function warnOfMissingIndexes(
  db: Db,
  log: Pick<BootLog, 'warn'>,
  folder: URL,
): Promise<void> {
  const statements = await statementsForMissing(db, new URL(`${INDEXES}/`, folder))
  if (statements.length > 0) log.warn({ statements }, MISSING)
}

const MISSING =
  'indexes are missing: their tables were large when a migration added them, and lists that use them are slow; these statements build them without blocking writers'

async function statementsForMissing(db: Db, folder: URL): Promise<string[]> {
  const files = (await readdir(folder)).toSorted()
  const names = files.map((file) => file.slice(0, -EXTENSION.length))
  const valid = await findIndexes(db, names)
  const statements = await Promise.all(
    files.map(async (file, place) => {
      const name = names[place] ?? ''
      const isValid = valid.get(name)
      if (isValid) return []
      const create = (await readFile(new URL(file, folder), 'utf8')).trim()
      // `if not exists` finds what an interrupted build has left, which no query uses.
      return isValid === false ? [`drop index concurrently svc."${name}";`, create] : [create]
    }),
  )
  return statements.flat()
}

/** Those that exist, and whether queries can use them. */
async function findIndexes(db: Db, names: string[]): Promise<Map<string, boolean>> {
  const { rows } = await db.query(
    `select class.relname as name, index.indisvalid as valid
       from pg_index as index
       join pg_class as class on class.oid = index.indexrelid
      where class.relnamespace = 'svc'::regnamespace and class.relname = any($1)`,
    [names],
  )
  return new Map(rows.map(({ name, valid }: { name: string; valid: boolean }) => [name, valid]))
}
