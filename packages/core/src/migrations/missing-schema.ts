/** What the option `migrate: 'check'` refuses to boot without. */
import { SchemaMissing } from '../errors.ts'

/** For `npx svc migrate --check`, which has no options of a host and does not boot. */
const lacking = new WeakMap<object, string>()

/** What the database lacks by this error; undefined where it is another one. */
export const lackOf = (error: object): string | undefined => lacking.get(error)

/** @throws SchemaMissing */
export function assertNoMissingSchema(missing: readonly string[], owner: string): void {
  if (missing.length === 0) return
  const lacks = `these parts of ${owner} are missing from the database: ${missing.join(', ')}`
  const refusal = new SchemaMissing(
    `svcCore: the option "migrate" is "check", and ${lacks}. Run "npx svc migrate" as a role that may make tables (with "--schema" where the host has the option "schema"), then boot again`,
  )
  lacking.set(refusal, lacks)
  throw refusal
}
