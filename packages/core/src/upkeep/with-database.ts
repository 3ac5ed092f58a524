/** A database for a command, which boots no host. */
import type { FastifyBaseLogger } from 'fastify'
import { resolveCoreOptions } from '../core-options.ts'
import { awaitPrimary } from '../postgres/await-primary.ts'
import { configOf } from '../postgres/connection-config.ts'
import { openDatabase, type Database } from '../postgres/pools.ts'
import { namesOf } from '../postgres/schema-names.ts'

/** Which database, and where the command logs. */
export interface Place {
  /** `password`: asked for each connection. */
  database: { connectionString: string; password?: () => Promise<string> }
  /** @default 'svc' */
  schema: string | undefined
  log: FastifyBaseLogger
  /** Aborts where the command is interrupted. */
  signal: AbortSignal
}

/** @throws InvalidOption, DatabaseUnreachable, DatabaseTooOld, DatabaseNotUtf8, and what `run` throws */
export async function withDatabase<T>(
  { database: given, schema, log, signal }: Place,
  run: (database: Database) => Promise<T>,
): Promise<T> {
  const names = namesOf(resolveCoreOptions({ schema }).schema)
  const logError = (err: Error) => log.warn({ err }, 'connection to Postgres lost')
  const option = { ...given, max: 2 }
  await awaitPrimary(configOf(option), log, signal, { reads: true })
  const database = await openDatabase(option, logError, { names })
  try {
    return await run(database)
  } finally {
    await database.close()
  }
}
