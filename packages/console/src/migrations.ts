/** What this package keeps in the database. */
import type { Core } from '@svc/core/internal'
import { PACKAGE_FOLDER } from './package-folder.ts'

const FOLDER = new URL('sql/', PACKAGE_FOLDER)

/** Creates the tables, or with `migrate: 'check'` only checks that they exist. */
export const prepareDatabase = (core: Core): Promise<void> => core.migrate('@svc/console', FOLDER)
