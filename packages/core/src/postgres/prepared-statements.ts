import { createHash } from 'node:crypto'
import type { Db } from './transaction.ts'

/** A client of pg, which can keep a statement's plan under a name. */
interface Client {
  query(statement: { name: string; text: string; values: unknown[] }): ReturnType<Db['query']>
}

const names = new Map<string, string>()

/**
 * `client` with statements that are parsed and planned once for each connection: a single
 * publish takes half the time. Only for connections that are ours while they last.
 */
export const withPreparedStatements = (client: Db): Db => ({
  query: (text, values = []) =>
    (client as unknown as Client).query({ name: nameOf(text), text, values }),
})

function nameOf(text: string): string {
  const known = names.get(text)
  if (known) return known
  const name = `svc_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
  names.set(text, name)
  return name
}

/**
 * Whether the prepared statements of a connection are gone (`discard all`, a pooler
 * that gives each transaction another connection).
 */
export const hasLostStatements = (error: unknown): boolean =>
  ['26000', '42P05'].includes(String((error as { code?: unknown } | null)?.code))
