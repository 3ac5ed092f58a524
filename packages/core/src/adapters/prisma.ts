import { assertTransaction } from '../postgres/foreign-clients.ts'
import type { Db } from '../postgres/transaction.ts'

/** What `prisma.$transaction` gives to its function. */
export interface PrismaTransaction {
  $queryRawUnsafe<T = unknown>(text: string, ...values: unknown[]): PromiseLike<T>
  $executeRawUnsafe(text: string, ...values: unknown[]): PromiseLike<number>
}

/**
 * For a statement that returns no rows: Prisma has another method, which returns how many rows
 * changed.
 */
const CHANGES_ALONE = /^\s*(?:insert|update|delete)\b(?![^]*\breturning\b)/i

/**
 * An interactive transaction of prisma, on Postgres.
 *
 * @throws InvalidTransaction
 * @example
 * await prisma.$transaction(async (tx) => {
 *   await tx.order.create({ data: { id: 42 } })
 *   await app.svc.events.publish('order.created', { id: 42 }, { db: fromPrisma(tx) })
 * })
 */
export function fromPrisma(tx: PrismaTransaction): Db {
  assertTransaction(tx, 'prisma')
  return {
    async query(text, values = []) {
      if (CHANGES_ALONE.test(text)) {
        return { rows: [], rowCount: await tx.$executeRawUnsafe(text, ...values) }
      }
      const rows = await tx.$queryRawUnsafe<unknown[]>(text, ...values)
      return { rows, rowCount: rows.length }
    },
  }
}
