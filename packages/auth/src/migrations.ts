/** What commands do with the tables of this package. */
import { packageFolder, type Core } from '@svc/core/internal'

export { findUserByEmail } from './tables/users.ts'

const FOLDER = new URL('sql/', packageFolder('@svc/auth', import.meta.url))

/** Creates the tables, or with `migrate: 'check'` only checks that they exist. */
export const prepareDatabase = (core: Core): Promise<void> => core.migrate('@svc/auth', FOLDER)
