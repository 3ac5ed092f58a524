/** The types of a job, for the code that inserts it and for its worker. */

export interface Job<Data = unknown> {
  id: string
  data: Data
  /** 1, 2, … of this row; a redriven job starts anew. */
  attempt: number
  /** How many attempts may follow this one, by its row. */
  attemptsLeft: number
  /** Jobs of one recipient share its in-flight cap. */
  recipient: string | null
  createdAt: Date
  /** Its recipient is held: this one attempt is a probe, which shows whether the others can go on. */
  isProbe?: boolean
  /** pg-boss compares it: an outcome is not settled after its lease has expired. */
  retryCount: number
  /** When it was fetched, as text of Postgres: names this lease where `retryCount` does not. */
  startedOn: string | null
  /** Set where its recipient is restricted, and allowed this attempt. */
  permit?: Permit
  /** What its worker needs of it, where the claim has read that: see `Worker.read`. */
  read?: unknown
  published?: {
    payload: string
    publishedAt: Date
    traceContext: string | null
    changed: string | null
  }
  /** What that publish has found of its recipient, unless its transaction may have begun long ago. */
  recipientVersion?: RecipientVersion
  /** The trace context of the attempt that is made now, where it has one. */
  traceContext?: string | null
}

/**
 * Which version of a recipient a publish has found. It changes with all that a worker reads of the
 * recipient, in the same transaction.
 */
export interface RecipientVersion {
  version: string
  /** Before the publish was sent, by the monotonic clock. */
  askedAt: number
}

export interface Permit {
  /** `null` where the recipient has no rate. */
  id: string | null
  /** Before the claim was sent, by the monotonic clock. */
  askedAt: number
}

/** The data of a job that was made for an event. The payload stays in the table of events. */
export interface FanOutJob {
  event: string
  eventId: string
  /** The recipient, where the subscription fans out. */
  recipient?: string
  deliveryId: string
  /**
   * The recipient's filter as it was at the publish, where the publish has not decided it: the worker
   * decides it before the first attempt. A job whose filter does not match ends as if it had never been.
   */
  filter?: object
  /** Attempts made before the job was redriven. */
  attemptsBefore?: number
  /** The trace context of the request that created the job, where no publish did. */
  askedIn?: string
  /** The trace context of the attempt before the next one. */
  attemptedIn?: string
  /** Since when no attempt could be sent, for a reason of the host: ISO 8601. */
  unsentSince?: string
  /** The row's `retry_limit` as the publish wrote it, where the schedule of an attempt has changed it. */
  publishedRetryLimit?: number
}

export interface NewJob {
  id: string
  data: object
  recipient?: string
  /** It waits with the retries: new jobs of its recipient are fetched before it. */
  isLate?: boolean
  /**
   * The state of the recipient does not hold or restrict the job. Only its dead letter belongs to the
   * recipient.
   */
  outOfTurn?: boolean
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

/** First attempts are made in the first lane, all others in the retry lane. */
export type Lane = 'first' | 'retry'
export const LANES = ['first', 'retry'] as const
/**
 * Where a job waits: in the lane of its attempt, or aside. Aside are the jobs of a recipient that is held or
 * restricted, or whose circuit is open: no fetch passes them, and they are claimed by their recipient.
 */
export const PRIORITY = { first: 0, retry: -1, aside: -2 } as const

/** What the output of a dead letter says whose process died: that of pg-boss of an attempt that took a day, and ours. */
export const LOST_MESSAGES = ['job timed out', 'its process died'] as const

export const deadLetterQueueOf = (queue: string): string => `${queue}.dlq`
