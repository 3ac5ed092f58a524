/** Makes, or checks, what core and the packages installed beside it keep in the database. */
import type { FastifyBaseLogger } from 'fastify'
import type { Core } from '../core-interface.ts'
import { RunningCore } from '../core.ts'
import { installed } from '../installed.ts'
import { explainingRights } from '../migrations/missing-rights.ts'
import { resolveCoreOptions } from '../core-options.ts'
import type { Db } from '../postgres/transaction.ts'
import type { Output } from './run.ts'

/** Packages with tables in the database: their module `migrations` creates them. */
const PACKAGES = ['@svc/auth', '@svc/webhooks', '@svc/console']

interface Migrations {
  prepareDatabase(core: Core): Promise<void>
}

/** Returns a line for each thing that was created. */
export async function migrateAll(
  url: string,
  isCheck: boolean,
  { out, err }: Output,
): Promise<string[]> {
  const settings = resolveCoreOptions({
    database: { connectionString: url, max: 2 },
    worker: { enabled: false },
    migrate: isCheck ? 'check' : 'boot',
  })
  const names = ['@svc/core']
  const core = await RunningCore.start(settings, logTo(err), new AbortController().signal)
  try {
    return await explainingRights(core.db, async () => {
      for (const name of PACKAGES) {
        const found = (await installed(`${name}/migrations`)) as Migrations | undefined
        if (!found) continue
        names.push(name)
        await found.prepareDatabase(core)
      }
      out(`of ${names.join(', ')}:`)
      return isCheck ? [] : await madeSince(core.db, core.startedAt)
    })
  } finally {
    await core.close()
  }
}

async function madeSince(db: Db, since: Date): Promise<string[]> {
  const { rows } = await db.query(
    `select owner, name from svc."__svc.migrations" where applied_at >= $1 order by applied_at, name`,
    [since],
  )
  return rows.map(({ owner, name }: { owner: string; name: string }) => `${owner} ${name}`)
}

/** Logs only warnings: a migration that waits for a lock logs one. */
function logTo(err: Output['err']): FastifyBaseLogger {
  const warn = (details: { err?: Error }, message: string) =>
    err(details.err ? `${message}: ${details.err.message}` : message)
  const nothing = () => {}
  const log = { level: 'warn', warn, error: warn, fatal: warn, info: nothing, debug: nothing }
  return {
    ...log,
    trace: nothing,
    silent: nothing,
    child: () => log,
  } as unknown as FastifyBaseLogger
}
