/** What a job is, to those who make it and those who do it. */

/** A job as its worker sees it. */
export interface Job<Data = unknown> {
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
  /** When it was claimed, as Postgres writes it: names this claim, also where the count does not. */
  startedOn: string | null
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
  /** It waits apart from the others until its group's jobs go on: that of an inactive webhook. */
  parked?: boolean
}

export interface DeadLetter<Data = unknown> {
  /** The id in the dead-letter queue. */
  id: string
  data: Data
  /** What the last attempt left, see `Outcome.output`; `undefined` where its process died. */
  output: unknown
  /** Attempts of the row that died. */
  attempts: number
  deadAt: Date
}

/** First attempts are made in the fresh lane; retries, and parked jobs, in the slow one. */
export type Lane = 'fresh' | 'slow'
export const PRIORITY = { fresh: 0, retry: -1 } as const

export const deadLetterQueueOf = (queue: string): string => `${queue}.dlq`

/** The columns of a job's row that make a {@link Job}, of a table or part named `job`. */
export const JOB_COLUMNS = `job.id, job.data, job.retry_count as "retryCount",
  job.retry_limit as "retryLimit", job.group_id as "groupId",
  extract(epoch from job.created_on)::float8 * 1000 as "createdOn",
  job.started_on::text as "startedOn",
  case when job.retry_count > 0 then job.output end as output`

export interface JobRow<Data> {
  id: string
  data: Data
  retryCount: number
  retryLimit: number
  groupId: string | null
  /** Milliseconds since 1970. */
  createdOn: number
  startedOn: string | null
  output: unknown
}

export function asJob<Data>(row: JobRow<Data>): Job<Data> {
  return {
    id: row.id,
    data: row.data,
    attempt: row.retryCount + 1,
    isLastAttempt: row.retryCount >= row.retryLimit,
    group: row.groupId,
    createdAt: new Date(row.createdOn),
    lost: row.retryCount > 0 && isLost(row.output),
    retryCount: row.retryCount,
    startedOn: row.startedOn,
  }
}

/** What pg-boss leaves in a job whose process did not settle it, and died or took too long. */
export const LOST_MESSAGES = ['job timed out', 'job heartbeat timeout'] as const

export function isLost(output: unknown): boolean {
  const value = (output as { value?: { message?: unknown } } | null)?.value
  return LOST_MESSAGES.some((message) => message === value?.message)
}
