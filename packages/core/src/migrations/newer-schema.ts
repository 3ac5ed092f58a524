/**
 * Processes run beside tables of a later version, since a migration takes nothing away that the version
 * before it uses. One that has to is a file `….breaking.sql`: a process that does not know it must not boot.
 */
import { SchemaTooNew } from '../errors.ts'

const BREAKING = '.breaking.sql'

/** @throws SchemaTooNew */
export function assertNotTooNew(applied: Iterable<string>, owner: string, known: string[]): void {
  const breaking = [...applied].filter((name) => name.endsWith(BREAKING) && !known.includes(name))
  if (breaking.length === 0) return
  throw new SchemaTooNew(
    `svcCore: the database has tables of a later version of ${owner}, which this version cannot use (${breaking.join(', ')}): deploy that version or a later one`,
  )
}
