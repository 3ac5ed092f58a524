import type { Failure } from '../http/post-result.ts'

/** One attempt, for the log and for a dead letter. */
export interface AttemptRecord {
  /** 1, 2, … over all attempts of the delivery. */
  attempt: number
  statusCode: number | null
  /**
   * `transform`: the webhook's transform threw, or no host has had it for a week. `secret`: no host could
   * read the webhook's secret for a week. `lost`: its process died.
   */
  error: Failure | 'transform' | 'secret' | 'lost' | null
  durationMs: number | null
  responseBody: string | null
  /** ISO 8601. */
  attemptedAt: string
  /**
   * How many milliseconds the steps took, at most 32767 of each: name, connection, TLS, to the first byte of the
   * answer, and its rest. There where it made a connection, or failed; `null` for steps that it did not have.
   */
  phases?: (number | null)[]
  /** Where it connected to, likewise. */
  address?: string
  /** Of a failed attempt: a line for each header of the answer, the first KiB of them. */
  responseHeaders?: string
  /** Where the attempt says something about the receiver of the webhook: its address. Not in the log. */
  testedUrl?: string
}

/** The attempt of a process that died before it recorded the result. */
export const crashedAttempt = (attempt: number, noticedAt: Date): AttemptRecord => ({
  ...unsent(attempt, noticedAt),
  error: 'lost',
})

/** Nothing was sent: the webhook or the event is deleted, or its transform gave `null`. */
export const skippedAttempt = (attempt: number): AttemptRecord => unsent(attempt, new Date())

export const unsent = (attempt: number, at: Date): AttemptRecord => ({
  attempt,
  statusCode: null,
  error: null,
  durationMs: null,
  responseBody: null,
  attemptedAt: at.toISOString(),
})

/** Nothing was sent, for a reason of the host. */
export const failedUnsent = (attempt: number, error: 'transform' | 'secret'): AttemptRecord => ({
  ...unsent(attempt, new Date()),
  error,
})
