/** Interprets the result of a fetch: whether more jobs wait, and when to fetch again. */

export interface Fetched {
  /** Jobs that it could bring at most; with 0 nothing was fetched. */
  limit: number
  count: number
  tookMs: number
  /** Groups that have all the slots that they may have. */
  capped: string[]
}

/**
 * - `no room`: nothing was fetched, since no slot is free.
 * - `full`: it has brought all that it could; the queue has more.
 * - `capped`: it has brought all jobs but those of groups that have all the slots that they may have.
 * - `drained`: it has brought all jobs that are due.
 */
export type FetchResult = 'no room' | 'full' | 'capped' | 'drained'

export function fetchResult({ limit, count, capped }: Omit<Fetched, 'tookMs'>): FetchResult {
  if (limit === 0) return 'no room'
  if (count === limit) return 'full'
  return capped.length > 0 ? 'capped' : 'drained'
}
