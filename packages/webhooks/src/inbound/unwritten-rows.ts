/**
 * Rows of requests that published nothing. They have no transaction of an event to be written in,
 * so they are collected and written together.
 */
import type { Core } from '@svc/core/internal'
import { insertInboundRows, type NewInboundRow } from '../tables/inbound-log.ts'

const FLUSH_MS = 500
/** Of the rows that are not in the database yet, also while a slow insert is under way. */
const MOST_ROWS = 1000
const MOST_BYTES = 16 * 1_048_576

export class UnwrittenRows {
  #core: Pick<Core, 'db' | 'log'>
  #waiting: NewInboundRow[] = []
  #rows = 0
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(core: Pick<Core, 'db' | 'log'>) {
    this.#core = core
  }

  /** Whether there is no room for a row. */
  get isFull(): boolean {
    return this.#rows >= MOST_ROWS
  }

  /** Keeps a row until it is written, without what is large where that takes too much memory. */
  add(row: NewInboundRow): void {
    if (this.isFull) return
    const kept = this.#bytes + bytesOf(row) > MOST_BYTES ? withoutRequest(row) : row
    this.#waiting.push(kept)
    this.#rows += 1
    this.#bytes += bytesOf(kept)
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref()
  }

  /** Writes the rows that wait. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#flush()
    await this.#flushing
  }

  #flush(): void {
    this.#timer = undefined
    const rows = this.#waiting
    if (rows.length === 0) return
    this.#waiting = []
    this.#flushing = this.#flushing
      .then(() => insertInboundRows(this.#core.db, rows))
      .catch((error: Error) => {
        this.#core.log.warn(
          { reason: error.message, rows: rows.length },
          'could not write rows of the inbound log; they are lost',
        )
      })
      .finally(() => {
        this.#rows -= rows.length
        for (const row of rows) this.#bytes -= bytesOf(row)
      })
  }
}

const bytesOf = ({ url, headers, body, eventNames, requestParts }: NewInboundRow): number =>
  [url, headers, body, eventNames, requestParts].reduce((sum, part) => sum + (part?.length ?? 0), 0)

const withoutRequest = (row: NewInboundRow): NewInboundRow => ({
  ...row,
  url: null,
  headers: null,
  body: null,
  eventNames: null,
  requestParts: null,
})
