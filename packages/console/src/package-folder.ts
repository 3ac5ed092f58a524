import { packageFolder } from '@svc/core/internal'

/**
 * The folder of this package, with its `package.json` and the files that are no code. Modules in folders
 * of `src` import it instead of asking where they are: the build puts all code into one folder.
 */
export const PACKAGE_FOLDER = packageFolder('@svc/console', import.meta.url)
