import { readFileSync } from 'node:fs'

/**
 * The folder of a package, with its `package.json` and the files that are no code. In a bundle these
 * files are missing, and what is in their place may be the host's.
 *
 * @param name of the package that asks
 * @param module the `import.meta.url` of a module in its `src` or `dist`; a bundle in CommonJS has none
 */
export function packageFolder(name: string, module: string | undefined): URL {
  let found: PackageFile | undefined
  try {
    found = packageFileIn(new URL('../', module))
  } catch {
    // not there
  }
  if (found?.name !== name) {
    throw new Error(
      `${name} is in a bundle, where its files (package.json, sql/) are missing: leave the packages out of the bundle, with --packages=external or --external:@svc/* of esbuild, or what your bundler has for it, and deploy node_modules beside it`,
    )
  }
  return new URL('../', module)
}

/**
 * The folder of this package. Modules in folders of `src` import it instead of asking where they are:
 * the build puts all code into one folder.
 */
export const PACKAGE_FOLDER = packageFolder('@svc/core', import.meta.url)

/** The version of this package, and the address of the site. */
export const { version: VERSION, homepage: HOMEPAGE } = packageFileIn(PACKAGE_FOLDER)

interface PackageFile {
  name: string
  version: string
  homepage: string
}

/** Read as a file: jest has a `require` of its own, which knows no URLs of folders. */
function packageFileIn(folder: URL): PackageFile {
  return JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as PackageFile
}
