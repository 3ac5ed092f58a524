import pg from 'pg'
import { isConnectionError } from './connection-errors.ts'

/**
 * An error without what a log must not contain. pg attaches its client to an error of an idle
 * connection, with user, host and the secret that cancels its statements; an error of Postgres
 * quotes rows in its detail. Of an error of pg only name, message and code (and the stack) are
 * logged.
 */
export function loggable(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if (!(error instanceof pg.DatabaseError) && !('client' in error) && !isConnectionError(error))
    return error
  const plain = new Error(error.message)
  plain.name = error.name
  if (error.stack !== undefined) plain.stack = error.stack
  const { code } = error as { code?: unknown }
  return code === undefined ? plain : Object.assign(plain, { code })
}
