/** Finds optional packages from the folder of the application. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * This package, then the folder and the program that runs: with pnpm, this package cannot resolve
 * the other dependencies of the application.
 */
const origins = (): string[] => [
  import.meta.url,
  pathToFileURL(join(process.cwd(), 'package.json')).href,
  ...(process.argv[1] ? [pathToFileURL(process.argv[1]).href] : []),
]

/** The module of that name; undefined where it is not installed. */
export async function installed(name: string): Promise<object | undefined> {
  const path = pathOf(name)
  return path === undefined ? undefined : ((await import(pathToFileURL(path).href)) as object)
}

function pathOf(name: string): string | undefined {
  for (const origin of origins()) {
    try {
      return createRequire(origin).resolve(name)
    } catch {
      // not there
    }
  }
  return undefined
}
