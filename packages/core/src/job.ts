/** What a job is, to those who make it and those who do it. */

/** A job as its worker sees it. */
export interface Job<Data = FanOutJob> {
  id: string
  data: Data
  /** 1, 2, … of this row; a redriven job starts anew. */
  attempt: number
  isLastAttempt: boolean
  /** Jobs of one group share its in-flight cap. */
  group: string | null
  createdAt: Date
  /** The attempt before this one ended with its process. */
  lost: boolean
  /** Fences a settle off whose claim has lapsed: pg-boss compares it. */
  retryCount: number
}

/** What a job that came of an event holds: the payload stays in the event. */
export interface FanOutJob {
  event: string
  eventId: string
  /** Set where the subscription fans out. */
  target?: string
  deliveryId: string
  /** Attempts made before the job was redriven. */
  attemptsBefore?: number
}

export interface NewJob {
  id: string
  data: object
  group?: string
  startAfter?: Date
}

export interface DeadLetter<Data = FanOutJob> {
  /** The id in the dead-letter queue. */
  id: string
  data: Data
  /** What the last attempt left, see `Outcome.output`; `undefined` where its process died. */
  output: unknown
  /** Attempts of the row that died. */
  attempts: number
  deadAt: Date
}

/** Fresh jobs go first; retries, and then the backlogs of tripped groups, are done in the slow lane. */
export type Lane = 'fresh' | 'slow'
export const PRIORITY = { fresh: 0, retry: -1, backlog: -2 } as const

export const deadLetterQueueOf = (queue: string): string => `${queue}.dlq`

/** The columns of a job's row that make a {@link Job}. */
export interface JobRow<Data> {
  id: string
  data: Data
  retryCount: number
  retryLimit: number
  groupId?: string | null
  /** Or milliseconds since 1970. */
  createdOn: Date | number
  output?: unknown
}

export function asJob<Data>(row: JobRow<Data>): Job<Data> {
  return {
    id: row.id,
    data: row.data,
    attempt: row.retryCount + 1,
    isLastAttempt: row.retryCount >= row.retryLimit,
    group: row.groupId ?? null,
    // A host may have taught pg to read timestamps as something else.
    createdAt: new Date(row.createdOn),
    lost: row.retryCount > 0 && hasTimedOut(row.output),
    retryCount: row.retryCount,
  }
}

/** What pg-boss leaves in a job whose worker did not settle it in time. */
export function hasTimedOut(output: unknown): boolean {
  const value = (output as { value?: { message?: unknown } } | null)?.value
  return value?.message === 'job timed out'
}
