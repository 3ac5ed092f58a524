import { createRequire } from 'node:module'

/**
 * The folder of this package, with its `package.json` and the files that are no code. Modules in folders
 * of `src` import it instead of asking where they are: the build puts all code into one folder.
 */
export const PACKAGE_FOLDER = new URL('../', import.meta.url)

/** The version of this package. */
export const { version: VERSION } = createRequire(PACKAGE_FOLDER)('./package.json') as {
  version: string
}
