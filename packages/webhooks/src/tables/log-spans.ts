/**
 * The spans in which the delivery log is read: it has a partition for each day, and a statement locks all
 * those that its span touches, with their indexes. So no span is longer than 16 days, and the bounds are
 * values: the planner leaves out the other days before they are locked.
 */
import type { Db } from '@svc/core'

export const DAY_MS = 24 * 3600 * 1000
const LONGEST_MS = 16 * DAY_MS
/** How far the clocks of processes may be ahead of this one, or behind it. */
const CLOCKS_DIFFER_MS = 2 * DAY_MS

/** From `first` to `end`, which is not included. */
export interface LogSpan {
  first: string
  end: string
}

/** The smallest UUIDv7 of a moment. */
export const firstIdOf = (ms: number): string => {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** When the newest rows were written at the latest. */
export const newestMs = (): number => Date.now() + CLOCKS_DIFFER_MS

/** No row of what has this id is older; 0 for an id that does not begin with a time. */
export const oldestMsOf = (id: string): number =>
  id.charAt(14) === '7' ? timeOf(id) - CLOCKS_DIFFER_MS : 0

/** A UUIDv7 begins with 48 bits of milliseconds (RFC 9562, section 5.7). */
export const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** The newest first, in growing spans. */
export function* spansBack(fromMs: number, toMs: number): Generator<LogSpan> {
  let lengthMs = DAY_MS
  for (let endMs = toMs; endMs > fromMs;) {
    const startMs = Math.max(fromMs, endMs - lengthMs)
    yield spanOf(startMs, endMs)
    endMs = startMs
    lengthMs = Math.min(LONGEST_MS, 2 * lengthMs)
  }
}

/** The oldest first. */
export function* spansForward(fromMs: number, toMs: number): Generator<LogSpan> {
  for (let ms = fromMs; ms < toMs; ms += LONGEST_MS) {
    yield spanOf(ms, Math.min(toMs, ms + LONGEST_MS))
  }
}

const spanOf = (fromMs: number, toMs: number): LogSpan => ({
  first: firstIdOf(fromMs),
  end: firstIdOf(toMs),
})

/** How much of the log a transaction keeps locked. */
export const MONTH_MS = 31 * DAY_MS

/**
 * Reads spans one after another in a transaction, until `read` returns true. A transaction keeps the locks
 * of all that it has touched: after the first month each span is read in a savepoint, and its locks end
 * with it. `read` writes nothing.
 */
export async function readSpans(
  db: Db,
  spans: Iterable<LogSpan>,
  read: (span: LogSpan) => Promise<boolean>,
): Promise<void> {
  let walkedMs = 0
  let hasSavepoint = false
  for (const span of spans) {
    if (walkedMs >= MONTH_MS && !hasSavepoint) {
      await db.query('savepoint svc_span')
      hasSavepoint = true
    }
    const isDone = await read(span)
    if (hasSavepoint) await db.query('rollback to savepoint svc_span')
    if (isDone) break
    walkedMs += timeOf(span.end) - timeOf(span.first)
  }
  if (hasSavepoint) await db.query('release savepoint svc_span')
}
