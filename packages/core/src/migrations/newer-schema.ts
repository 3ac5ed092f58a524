/**
 * Processes run with tables of a later version, since a migration removes nothing that the version
 * before it uses. A migration that has to is a file `….breaking.sql`: a process of a version
 * without that file must not boot.
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
