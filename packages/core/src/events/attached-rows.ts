/** Rows that are written in the transaction that publishes an event. */
import type { Db } from '../postgres/transaction.ts'
import { publishedEventId } from './event-id.ts'

/** The result of one publish; `null` where its key was taken. */
export type PublishedOrTaken = { id: string; duplicate: boolean } | null

/**
 * One row for the results of one publish, and the statement that writes it with the rows of other
 * publishes.
 */
export interface AttachedRow {
  write: (db: Db, rows: never[]) => Promise<void>
  rowOf: (results: PublishedOrTaken[]) => object
  /**
   * Writes the rows in the statement that publishes their events, one event each. The rows are
   * written unchanged where the events are new. @default none: `write`, in a transaction
   */
  insert?: InsertPublished
}

/** An insert that is a part of the statement of a publish. */
export interface InsertPublished {
  /**
   * The call of a function that inserts the rows. Its arguments are {@link CREATED}, the array of the
   * events that are new, from 1, {@link PAYLOADS}, those of all events, and its own, which begin with
   * {@link FIRST_INSERTED}.
   */
  call: string
  /** The function's own arguments, from the row of each event; `null` of an event without one. */
  valuesOf: (rows: never[]) => unknown[]
}

export const CREATED = 'created.numbers'
export const PAYLOADS = '$3::text[]'
export const FIRST_INSERTED = 23

/** What {@link InsertPublished} inserts with a batch of events. */
export interface InsertedRows {
  call: string
  values: unknown[]
}

/** The rows of a batch of single publishes; `undefined` where they are not all inserted so. */
export function insertedRows(
  events: readonly { id: string; attachedRow?: AttachedRow | undefined }[],
): InsertedRows | undefined {
  const insert = events.find(({ attachedRow }) => attachedRow)?.attachedRow?.insert
  if (!insert) return undefined
  if (events.some(({ attachedRow }) => attachedRow && attachedRow.insert !== insert)) {
    return undefined
  }
  const rows = events.map(
    ({ id, attachedRow }) =>
      attachedRow?.rowOf([{ id: publishedEventId(id), duplicate: false }]) ?? null,
  )
  return { call: insert.call, values: insert.valuesOf(rows as never[]) }
}

/** One statement for all rows of a kind. */
export async function writeAttachedRows(
  db: Db,
  all: { attachedRow: AttachedRow | undefined; results: PublishedOrTaken[] }[],
): Promise<void> {
  const rows = new Map<AttachedRow['write'], object[]>()
  for (const { attachedRow, results } of all) {
    if (!attachedRow) continue
    const others = rows.get(attachedRow.write)
    if (others) others.push(attachedRow.rowOf(results))
    else rows.set(attachedRow.write, [attachedRow.rowOf(results)])
  }
  for (const [write, its] of rows) await write(db, its as never[])
}
