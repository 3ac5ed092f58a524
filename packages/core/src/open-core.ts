/** What core opens at its start: the database, with its tables, and pg-boss. */
import type { FastifyBaseLogger } from 'fastify'
import { KeyRing, NO_CIPHER, parseKey, type Cipher } from './encryption/key-ring.ts'
import { DatabaseUnreachable, InvalidOption } from './errors.ts'
import { Catalogue } from './events/catalogue.ts'
import { isBossInstalled } from './jobs/pg-boss/boss-tables.ts'
import { startBoss } from './jobs/pg-boss/boss.ts'
import { assertCitusUsable, CITUS_VERSION, letCitusKnow } from './migrations/citus.ts'
import { migrate } from './migrations/migrate.ts'
import { withMigrationLock } from './migrations/migration-lock.ts'
import { explainingRights } from './migrations/missing-rights.ts'
import type { CoreSettings } from './core-options.ts'
import { awaitPrimary } from './postgres/await-primary.ts'
import { addressOf, configOf } from './postgres/connection-config.ts'
import { whyUnreachable } from './postgres/connection-errors.ts'
import { loggable } from './postgres/loggable-error.ts'
import { PACKAGE_FOLDER } from './package-folder.ts'
import { openDatabase } from './postgres/pools.ts'
import { namesOf } from './postgres/schema-names.ts'
import { openTelemetry } from './telemetry/open-telemetry.ts'
import { Telemetry } from './telemetry/telemetry.ts'
import { createSecrets, type Secrets } from './secrets.ts'

export const MIGRATIONS = new URL('sql/', PACKAGE_FOLDER)

export type OpenCore = Awaited<ReturnType<typeof openCore>>

export async function openCore(
  settings: CoreSettings,
  log: FastifyBaseLogger,
  signal: AbortSignal,
) {
  // Checked before anything is opened: a wrong definition is an error of its own.
  const catalogue = new Catalogue(settings.events, settings.eventValidation, log)
  const secrets = createSecrets(settings.secrets, log)
  const cipher = await openKeyRing(settings.encryption, secrets)
  const telemetry = new Telemetry(openTelemetry())
  const logError = (error: Error) =>
    log.warn({ err: loggable(error) }, 'connection to Postgres lost')
  const which = await whichDatabase(settings, secrets)
  await awaitPrimary(configOf(which), log, signal)
  const database = await openDatabase(which, logError, {
    readers: settings.readers,
    names: namesOf(settings.schema),
    logRefusal: (error) =>
      log.warn(
        { err: loggable(error) },
        'Postgres refuses writes at the moment; what is refused is tried again, or its caller gets an error',
      ),
  })
  try {
    const isCheck = settings.migrate === 'check'
    const { pool, workerPool } = database
    return await explainingRights(database.db, async () => {
      const { rows } = await database.db.query(
        `select extract(epoch from now())::float8 * 1000 as now, ${CITUS_VERSION} as citus,
                current_setting('transaction_read_only') = 'on' as "reads"`,
      )
      const { now, citus, reads } = rows[0] as { now: number; citus: string | null; reads: boolean }
      if (reads)
        throw new DatabaseUnreachable(whyUnreachable(ONLY_READS, addressOf(configOf(which))))
      // By the clock of Postgres, before any table was created.
      const startedAt = new Date(now)
      const boot = { pool, workerPool, log, signal, isCheck, citus }
      if (citus !== null) {
        await assertCitusUsable(database.db, citus)
        log.info({ version: citus }, 'the database is the coordinator of a Citus cluster')
      }
      await migrate(boot, '@svc/core', MIGRATIONS)
      const start = () =>
        startBoss(database, isCheck, {
          error: (error) => log.warn({ err: loggable(error) }, 'pg-boss error'),
          warn: (warning) => log.warn({ warning }, 'pg-boss warning'),
        })
      // pg-boss takes its lock after it has made the schema: of two processes that make it at once one fails.
      const mayStart = isCheck || (await isBossInstalled(database.db))
      const boss = mayStart ? await start() : await withMigrationLock(boot, start)
      await letCitusKnow(boot, 'pg-boss')
      return {
        boot,
        log,
        database,
        boss,
        secrets,
        catalogue,
        cipher,
        telemetry,
        startedAt,
        isCheck,
      }
    })
  } catch (error) {
    await database.close()
    throw error
  }
}

/** A list of hosts says the same of its own. */
const ONLY_READS = {
  code: '25006',
  message: 'it is a standby, or default_transaction_read_only is on',
}

/** @throws InvalidOption */
async function whichDatabase({ database }: CoreSettings, secrets: Secrets) {
  const known = database ?? (await secrets.get('DATABASE_URL'))
  if (known) return known
  throw new InvalidOption(
    'svcCore: there is no database: give the option "database", or set the secret DATABASE_URL',
  )
}

/** Reads the keys of the option `encryption`. @throws InvalidOption */
async function openKeyRing(
  encryption: { secretNames: readonly string[] } | null,
  secrets: Secrets,
): Promise<Cipher> {
  if (encryption === null) return NO_CIPHER
  const keys = await Promise.all(encryption.secretNames.map((name) => keyOf(name, secrets)))
  return new KeyRing(keys as [Buffer, ...Buffer[]])
}

async function keyOf(name: string, secrets: Secrets): Promise<Buffer> {
  const secret = await secrets.get(name)
  const key = secret === null ? null : parseKey(secret)
  if (key !== null) return key
  const found = secret === null ? 'it is not set' : 'it is another text'
  throw new InvalidOption(
    `svcCore: the secret "${name}" of the option "encryption" must be 32 bytes in base64, but ${found}`,
  )
}
