/**
 * `@svc/core/adapters`: the transactions of other libraries as the option `db`. Typed by structure:
 * nothing of the libraries is imported, and any version fits that has these methods.
 */
export { fromDrizzle, type DrizzleTransaction } from './drizzle.ts'
export { fromKnex, type KnexTransaction } from './knex.ts'
export { fromKysely, type KyselyTransaction } from './kysely.ts'
export { fromPostgresJs, type PostgresJsTransaction } from './postgres-js.ts'
export { fromPrisma, type PrismaTransaction } from './prisma.ts'
export type { Db } from '../postgres/transaction.ts'
