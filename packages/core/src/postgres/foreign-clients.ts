/** Connections and transactions of other libraries, told by their structure. Nothing of them is imported. */

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
  /** What to pass inside of it. */
  pass: string
}

const has = (shape: Shape, ...methods: string[]): boolean =>
  methods.every((method) => typeof shape[method] === 'function')

const LIBRARIES: Library[] = [
  {
    name: 'drizzle',
    is: (shape) => has(shape, 'execute', 'select') && 'session' in shape && 'dialect' in shape,
    isTransaction: (shape) => has(shape, 'rollback'),
    begin: 'drizzle(client).transaction(…) on a client of pg',
    pass: 'that client',
  },
  {
    name: 'kysely',
    is: (shape) => has(shape, 'executeQuery', 'selectFrom'),
    isTransaction: (shape) => shape['isTransaction'] === true,
    begin: 'kysely.transaction().execute(async (trx) => …)',
    pass: '{ query: (text, values) => trx.executeQuery(CompiledQuery.raw(text, values)) }',
  },
  {
    name: 'knex',
    is: (shape) => has(shape, 'raw', 'select', 'from') && 'client' in shape,
    isTransaction: (shape) => shape['isTransaction'] === true,
    begin: 'knex.transaction(async (trx) => …, { connection }) on a client of pg',
    pass: 'that client',
  },
  {
    name: 'prisma',
    is: (shape) => has(shape, '$queryRawUnsafe', '$executeRawUnsafe'),
    isTransaction: (shape) => !has(shape, '$transaction'),
    begin: 'prisma.$transaction(async (tx) => …)',
    pass: '{ query: async (text, values = []) => ({ rows: await tx.$queryRawUnsafe(text, ...values) }) }',
  },
  {
    name: 'postgres.js',
    is: (shape) => has(shape, 'unsafe', 'array', 'json'),
    isTransaction: (shape) => has(shape, 'savepoint'),
    begin: 'sql.begin(async (sql) => …)',
    pass: '{ query: async (text, values = []) => ({ rows: await sql.unsafe(text, values) }) }',
  },
]

export function foreignDb(db: unknown): Foreign | undefined {
  if ((typeof db !== 'object' && typeof db !== 'function') || db === null) return undefined
  const shape = db as Shape
  const library = LIBRARIES.find(({ is }) => is(shape))
  if (!library) return undefined
  const { name, begin, pass, isTransaction } = library
  const begun = `begin with ${begin}, and pass ${pass}`
  if (!isTransaction(shape))
    return { what: `a connection of ${name} outside a transaction`, right: begun }
  return {
    what: `a transaction of ${name}`,
    // Which connection a transaction of these uses, only its beginning can tell.
    right: pass === 'that client' ? begun : `pass ${pass}`,
  }
}
