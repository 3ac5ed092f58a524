import type { Db } from './transaction.ts'

/** A pool or a client of pg. */
export interface Client {
  query(statement: object): ReturnType<Db['query']>
}

/** A statement of ours takes milliseconds; what takes so long has no server at its other end. */
const PATIENCE_MS = 15_000

/**
 * The same, with statements that end. A connection whose peer has fallen silent (a paused server, a
 * firewall that forgot it) would hold its caller, and its place in the pool, for as long as TCP is
 * patient. pg gives such a connection up.
 */
export function bounded(client: Client, ms = PATIENCE_MS): Db {
  return {
    query(statement: string | object, values?: unknown[]) {
      const given = typeof statement === 'string' ? { text: statement } : statement
      return client.query({ ...given, ...(values ? { values } : {}), query_timeout: ms })
    },
  }
}
