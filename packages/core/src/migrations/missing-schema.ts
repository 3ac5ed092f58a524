/** What the option `migrate: 'check'` refuses to boot without. */
import { SchemaMissing } from '../errors.ts'

/** @throws SchemaMissing */
export function assertNoMissingSchema(missing: readonly string[], owner: string): void {
  if (missing.length === 0) return
  throw new SchemaMissing(
    `svcCore: the option "migrate" is "check", and these parts of ${owner} are missing from the database: ${missing.join(', ')}. Run "npx svc migrate" as a role that may make tables, then boot again`,
  )
}
