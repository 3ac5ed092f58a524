/** The packages installed beside core that keep something in the database. */
import type { Core } from '../core.ts'
import { installed } from '../installed.ts'
import type { Db } from '../postgres/transaction.ts'

/** The module `migrations` of each has what commands do with its tables. */
const PACKAGES = ['@svc/auth', '@svc/webhooks', '@svc/console']

/** The part of core that a package uses when it makes its tables, or looks for them. */
export type PreparingCore = Pick<Core, 'settings' | 'migrate'> & {
  queues: Pick<Core['queues'], 'define'>
}

export interface InstalledPackage {
  name: string
  /** Creates its tables, or only looks for them where the setting `migrate` is 'check'. */
  prepareDatabase: (core: PreparingCore) => Promise<void>
  /** The webhooks whose attempts fail, of the package that has webhooks: the first `most`. */
  findFailingWebhooks?: (db: Db, most: number) => Promise<FailingWebhooks>
}

export interface FailingWebhooks {
  count: number
  first: FailingWebhook[]
}

/** `disabled`: no more deliveries are sent. `since` is ISO 8601. */
export interface FailingWebhook {
  id: string
  url: string | null
  tenant: string | null
  since: string | null
  failedAttempts: number
  disabled: boolean
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
