/** Rows that stand or fall with an event: written in the transaction that publishes it. */
import type { Db } from '../postgres/transaction.ts'

/** The result of one publish; `null` where its key was taken. */
export type PublishedOrTaken = { id: string; duplicate: boolean } | null

/** One row for the results of one publish, and the statement that writes it with its neighbours'. */
export interface Alongside {
  write: (db: Db, rows: never[]) => Promise<void>
  rowOf: (results: PublishedOrTaken[]) => object
}

/** One statement for all rows of a kind. */
export async function writeAlongside(
  db: Db,
  all: { alongside: Alongside | undefined; results: PublishedOrTaken[] }[],
): Promise<void> {
  const rows = new Map<Alongside['write'], object[]>()
  for (const { alongside, results } of all) {
    if (!alongside) continue
    const others = rows.get(alongside.write)
    if (others) others.push(alongside.rowOf(results))
    else rows.set(alongside.write, [alongside.rowOf(results)])
  }
  for (const [write, its] of rows) await write(db, its as never[])
}
