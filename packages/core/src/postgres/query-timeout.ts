import { connectWithin } from './connect-within.ts'
import { isLostConnection, markCancelled } from './connection-errors.ts'
import { isLockTimeout, repeatedOnConflict } from './contention.ts'
import { OWN_TYPES } from './own-types.ts'
import { BEGIN, needsSettings, SET_LOCAL } from './session-settings.ts'
import type { SchemaNames, StatementPool } from './schema-names.ts'
import type { Db } from './db.ts'
import { within } from '../time.ts'

type Answer = Awaited<ReturnType<Db['query']>>

/** A client of pg. */
export interface Client {
  query(statement: object, callback: (error: Error | null, answer: Answer) => void): unknown
  /** What the host has set. */
  connectionParameters?: { query_timeout?: number | false | undefined }
}

/** Longest duration of a statement of ours, unless set otherwise. */
export const STATEMENT_TIMEOUT_MS = 15_000
/**
 * The server ends a statement first: its error shows that Postgres is available, and nothing keeps
 * running.
 */
const CLIENT_MARGIN_MS = 1000
/** A process that is frozen in the middle of a transaction must not keep its locks. */
const LONGEST_IDLE_MS = 60_000
/** How long the answer to a cancellation is waited for. */
const CANCELLED_WITHIN_MS = 1000

/**
 * `client` with a time-out on each statement. Only the client has this time-out. It detects
 * a server that has stopped answering (a paused machine, a firewall that dropped the connection).
 * The server needs a `statement_timeout` of its own, which connections and transactions of ours
 * set. After a time-out the caller closes the client: its answer may still come.
 *
 * `names`: of the schema, where it has another name than in the statements.
 */
export function withQueryTimeout(
  client: Client,
  ms = STATEMENT_TIMEOUT_MS,
  names?: SchemaNames,
): Db {
  return {
    query: (statement: string | object, values?: unknown[]) =>
      answerWithin(client, asConfig(statement, values, names), ms),
  }
}

/** The limits of a transaction of ours. */
export const limitsOf = (ms: number): string =>
  `set local statement_timeout = ${ms}; set local idle_in_transaction_session_timeout = ${LONGEST_IDLE_MS}`

/**
 * `pool` with a time-out on each statement. Behind a pooler each is a transaction with limits of its own: the
 * process id of a connection changes there.
 *
 * `cancel`: for a pool that the application uses as well, so that its sessions cannot be given a
 * `statement_timeout`. A statement that timed out here is cancelled in the server, and its error marked
 * where the server has answered that: see `isOutage`.
 */
export function poolWithQueryTimeout(
  pool: StatementPool,
  ms = STATEMENT_TIMEOUT_MS,
  cancel?: (processId: number) => Promise<unknown>,
): Db {
  return {
    async query(statement: string | object, values?: unknown[]) {
      const client = await connectWithin(pool)
      let broken: Error | undefined
      const onError = (error: Error) => {
        broken = error
      }
      client.on('error', onError)
      const query = () => answerWithin(client, asConfig(statement, values, pool.names), ms)
      try {
        const db = withQueryTimeout(client, ms, pool.names)
        if ((await needsSettings(pool, client, db)) && mayBeInTransaction(statement)) {
          return await inTransaction(db, ms, statement, values)
        }
        return await (isAlone(statement, values) ? repeatedOnConflict(query) : query())
      } catch (error) {
        // Of one statement that has waited too long for a lock nothing is left.
        if (isAlone(statement, values) && isLockTimeout(error)) throw error
        // The connection is closed, as by pg's own `pool.query`: its state is not known yet.
        // Several statements in one text may have begun a transaction that failed.
        broken = error as Error
        if (cancel && isClientTimeout(error)) {
          const { processID } = client as unknown as { processID?: number }
          if (processID && (await isAnswered(cancel(processID)))) markCancelled(broken)
        }
        throw error
      } finally {
        client.off('error', onError)
        client.release(broken)
      }
    },
  }
}

/** The settings of the session are not those that our statements need, and stay as they are. */
async function inTransaction(
  db: Db,
  ms: number,
  statement: string | object,
  values: unknown[] | undefined,
): ReturnType<Db['query']> {
  await db.query(`${BEGIN}; ${limitsOf(ms)}; ${SET_LOCAL}`)
  try {
    const answer = await db.query(statement as string, values)
    await db.query('commit')
    return answer
  } catch (error) {
    if (!isLostConnection(error)) await db.query('rollback')
    throw error
  }
}

/** Indexes that are built beside writes cannot be built in one. */
const mayBeInTransaction = (statement: string | object): boolean =>
  !/\bconcurrently\b/i.test(
    typeof statement === 'string' ? statement : (statement as { text: string }).text,
  )

/** Whether the server answers in time. */
const isAnswered = (cancelling: Promise<unknown>): Promise<boolean> =>
  within(
    CANCELLED_WITHIN_MS,
    cancelling.then(
      (answer) => answer !== undefined,
      () => false,
    ),
    () => false,
  )

/**
 * With a callback, and a time-out of its own: for a promise or the option `query_timeout`, pg makes
 * functions with whose variables V8 keeps the answers of all statements until the next collection of the
 * whole heap (seen with Node 24, not without its compiler Maglev).
 */
async function answerWithin(client: Client, config: object, ms: number): Promise<Answer> {
  const timeoutMs = ms + CLIENT_MARGIN_MS
  // Where the host has wrapped the function, it may know promises alone. A `query_timeout` of the host is
  // for its own statements, and pg takes that of the statement instead.
  if (isWrapped(client) || client.connectionParameters?.query_timeout) {
    return (client as unknown as PromisingClient).query({ ...config, query_timeout: timeoutMs })
  }
  try {
    return await new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(CLIENT_TIMEOUT)), timeoutMs)
      try {
        client.query(config, (error, answer) => {
          clearTimeout(timer)
          if (error) reject(error)
          else resolve(answer)
        })
      } catch (error) {
        clearTimeout(timer)
        throw error
      }
    })
  } catch (error) {
    // As pg does for a promise: its own trace ends where the answer was read from the socket.
    if (error instanceof Error) Error.captureStackTrace(error)
    throw error
  }
}

const isWrapped = (client: Client): boolean =>
  client.query !== (Object.getPrototypeOf(client) as Client | null)?.query

interface PromisingClient {
  query(statement: object): Promise<Answer>
}

const asConfig = (
  statement: string | object,
  values: unknown[] | undefined,
  names: SchemaNames | undefined,
): object => ({
  ...(typeof statement === 'string' ? { text: statement } : statement),
  ...(values ? { values } : {}),
  ...(names ? namedBy(names, statement) : {}),
  types: OWN_TYPES,
})

function namedBy(names: SchemaNames, statement: string | object): object {
  if (typeof statement === 'string') return { text: names.statement(statement) }
  const { name, text } = statement as { name: string; text: string }
  return { name: names.prepared(name), text: names.statement(text) }
}

/** A statement with values is the only one of its text, and a transaction of its own. */
const isAlone = (statement: string | object, values: unknown[] | undefined): boolean =>
  (values ?? (statement as { values?: unknown[] }).values ?? []).length > 0

/** As pg has it. */
const CLIENT_TIMEOUT = 'Query read timeout'

const isClientTimeout = (error: unknown): boolean =>
  (error as Error | undefined)?.message === CLIENT_TIMEOUT
