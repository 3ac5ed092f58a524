/**
 * Connections and transactions of other libraries, recognised by their structure. Nothing of them
 * is imported.
 */

import { InvalidTransaction } from '../errors.ts'
import { kindOf } from '../options/check-options.ts'

/** What was given in the place of a `db`, and what would be right. */
export interface Foreign {
  what: string
  right: string
}

type Shape = Record<string, unknown>

interface Library {
  name: string
  is: (shape: Shape) => boolean
  isTransaction: (shape: Shape) => boolean
  /** How a transaction is begun. */
  begin: string
  /** The function of @svc/core/adapters that makes a `db` of it. */
  adapter: string
}

const has = (shape: Shape, ...methods: string[]): boolean =>
  methods.every((method) => typeof shape[method] === 'function')

const LIBRARIES: Library[] = [
  {
    name: 'drizzle',
    is: (shape) => has(shape, 'execute', 'select') && 'session' in shape && 'dialect' in shape,
    isTransaction: (shape) => has(shape, 'rollback'),
    begin: 'drizzle(…).transaction(async (tx) => …)',
    adapter: 'fromDrizzle(tx)',
  },
  {
    name: 'kysely',
    is: (shape) => has(shape, 'executeQuery', 'selectFrom'),
    isTransaction: (shape) => shape['isTransaction'] === true,
    begin: 'kysely.transaction().execute(async (trx) => …)',
    adapter: 'fromKysely(trx)',
  },
  {
    name: 'knex',
    is: (shape) => has(shape, 'raw', 'select', 'from') && 'client' in shape,
    isTransaction: (shape) => shape['isTransaction'] === true,
    begin: 'knex.transaction(async (trx) => …)',
    adapter: 'fromKnex(trx)',
  },
  {
    name: 'prisma',
    is: (shape) => has(shape, '$queryRawUnsafe', '$executeRawUnsafe'),
    // A transaction of version 7 has `$transaction` as well, for transactions within it.
    isTransaction: (shape) => !has(shape, '$connect'),
    begin: 'prisma.$transaction(async (tx) => …)',
    adapter: 'fromPrisma(tx)',
  },
  {
    name: 'postgres.js',
    is: (shape) => has(shape, 'unsafe', 'array', 'json'),
    isTransaction: (shape) => has(shape, 'savepoint'),
    begin: 'sql.begin(async (sql) => …)',
    adapter: 'fromPostgresJs(sql)',
  },
]

export function foreignDb(db: unknown): Foreign | undefined {
  if ((typeof db !== 'object' && typeof db !== 'function') || db === null) return undefined
  const shape = db as Shape
  const library = LIBRARIES.find(({ is }) => is(shape))
  if (!library) return undefined
  const { name, begin, adapter, isTransaction } = library
  const pass = `pass ${adapter} of @svc/core/adapters`
  return isTransaction(shape)
    ? { what: `a transaction of ${name}`, right: pass }
    : {
        what: `a connection of ${name} outside a transaction`,
        right: `begin with ${begin}, and ${pass}`,
      }
}

/**
 * For the adapters.
 *
 * @throws InvalidTransaction
 */
export function assertTransaction(given: unknown, wanted: string): void {
  const library = LIBRARIES.find(({ name }) => name === wanted) as Library
  const isObjectLike = (typeof given === 'object' || typeof given === 'function') && given !== null
  const shape = given as Shape
  if (isObjectLike && library.is(shape) && library.isTransaction(shape)) return
  const [caller] = library.adapter.split('(')
  throw new InvalidTransaction(
    `${caller} takes a transaction of ${wanted}, got ${foreignDb(given)?.what ?? kindOf(given)}: begin with ${library.begin}, and pass what its function is given`,
  )
}
