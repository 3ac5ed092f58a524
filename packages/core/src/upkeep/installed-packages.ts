/** The packages installed beside core that keep something in the database. */
import type { Core } from '../core-interface.ts'
import { installed } from '../installed.ts'

/** The module `migrations` of each creates its tables. */
const PACKAGES = ['@svc/auth', '@svc/webhooks', '@svc/console']

export interface InstalledPackage {
  name: string
  /** Creates its tables, or only looks for them where the setting `migrate` is 'check'. */
  prepareDatabase: (core: Core) => Promise<void>
}

export async function installedPackages(): Promise<InstalledPackage[]> {
  const found = await Promise.all(
    PACKAGES.map(async (name) => {
      const migrations = await installed(`${name}/migrations`)
      return migrations && { ...(migrations as Omit<InstalledPackage, 'name'>), name }
    }),
  )
  return found.filter((one) => one !== undefined)
}
