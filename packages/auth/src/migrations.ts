/** The migrations of this package. */
import type { Core } from '@svc/core/internal'

const FOLDER = new URL('../sql/', import.meta.url)

/** Makes it, or only looks where the host has `migrate: 'check'`. */
export const prepareDatabase = (core: Core): Promise<void> => core.migrate('@svc/auth', FOLDER)
