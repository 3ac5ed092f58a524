/** Which of our packages, and of what they run on, are installed where the command runs. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const PACKAGES = [
  '@svc/core',
  '@svc/auth',
  '@svc/webhooks',
  '@svc/console',
  '@svc/providers',
  '@svc/receiver',
  '@svc/testing',
  '@svc/cli',
  'fastify',
  'pg',
]

/** Of this command; all packages have the same. */
export const ownVersion = (): string =>
  (createRequire(import.meta.url)('@svc/cli/package.json') as { version: string }).version

/** By the name of the package. */
export async function installedVersions(folder: string): Promise<Record<string, string>> {
  const { resolve } = createRequire(join(folder, 'package.json'))
  const versions: Record<string, string> = {}
  for (const name of PACKAGES) {
    try {
      const manifest = JSON.parse(await readFile(resolve(`${name}/package.json`), 'utf8'))
      versions[name] = (manifest as { version: string }).version
    } catch {
      // It is not installed.
    }
  }
  return versions
}
