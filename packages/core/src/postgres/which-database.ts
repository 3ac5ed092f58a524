import { InvalidOption } from '../errors.ts'
import type { CoreSettings } from '../core-options.ts'
import type { Secrets } from '../secrets.ts'

/** @throws InvalidOption */
export async function whichDatabase({ database }: CoreSettings, secrets: Secrets) {
  const known = database ?? (await secrets.get('DATABASE_URL'))
  if (known) return known
  throw new InvalidOption(
    'svcCore: there is no database: give the option "database", or set the secret DATABASE_URL',
  )
}
