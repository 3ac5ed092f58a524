/** What the option `migrate: 'check'` refuses to boot without. */
import { SchemaMissing } from '../errors.ts'

/** @throws SchemaMissing */
export function assertSchemaMade(missing: readonly string[], owner: string): void {
  if (missing.length === 0) return
  throw new SchemaMissing(
    `svcCore: the option "migrate" is "check", and the database lacks of ${owner}: ${missing.join(', ')}. Run "npx svc migrate" as a role that may make tables, then boot again`,
  )
}
