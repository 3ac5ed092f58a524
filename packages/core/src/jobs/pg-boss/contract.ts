/**
 * What our statements need of pg-boss's tables: their columns, with what each means to us, the states
 * in their order, and the indexes that our plans use. The boot compares the database with it
 * (boss-tables.ts), so that another version of pg-boss, or a change by hand, is refused with a reason.
 * Otherwise it would be a statement that fails later, or a plan that reads all jobs.
 *
 * There is no view with our names. pg-boss changes the type of no column that a view has, so its
 * migrations would fail. A view has no `ctid` and no partitions, by which our statements find rows.
 */

/** A column: its type as `pg_type` names it, our meaning, and the default that inserts rely on. */
export type Column = readonly [type: string, ours: string, byDefault?: string]

const JOB = {
  id: ['uuid', 'the job; of a dead letter a UUIDv7 of its death, see jobs-table-setup.ts'],
  /** The partitions are by it. Dead letters are in `<queue>.dlq`. */
  name: ['text', 'the queue'],
  data: ['jsonb', 'the data of the job'],
  state: ['job_state', 'the state'],
  /** Inserts make jobs of the first lane: see `PRIORITY`. */
  priority: ['int4', 'the lane', '0'],
  /** When the job was made, plus microseconds by its position among those that one statement made. */
  created_on: ['timestamptz', 'the order'],
  /** A job whose probe has failed is due after the others of its recipient. */
  start_after: ['timestamptz', 'when the job is due'],
  /** Is moved with `start_after` when a job is postponed: pg-boss deletes what is older. */
  keep_until: ['timestamptz', 'how long a waiting job is kept'],
  /**
   * When the job was last claimed, null before its first attempt. Of an active job it names the lease:
   * settlements compare it.
   */
  started_on: ['timestamptz', 'the lease'],
  expire_seconds: ['int4', 'how long an attempt may take'],
  deletion_seconds: ['int4', 'how long the row of a dead job is kept'],
  /** A claim adds 1 if the job has a `started_on`. */
  retry_count: ['int4', 'the number of attempts before the present or last one', '0'],
  /**
   * By the settings of the publishing process. A settlement changes it where the worker has a schedule
   * of its own.
   */
  retry_limit: ['int4', 'the number of attempts after the first'],
  retry_delay: ['int4', 'the seconds before the second attempt'],
  retry_backoff: ['bool', 'whether the delays double'],
  retry_delay_max: ['int4', 'the longest delay in seconds'],
  /** Null where it obeys none. */
  group_id: ['text', 'the recipient whose limits, order and hold the job obeys'],
  /**
   * The indexes by recipient have this column, and a job that obeys no recipient has it for its dead letter. In
   * pg-boss a key that two jobs may not share.
   */
  singleton_key: ['text', 'the recipient that the job belongs to'],
  /** claim-jobs.ts. In pg-boss for limits of a tier. */
  group_tier: ['text', 'the process that has claimed the job'],
  /**
   * From its insert on: its index is ours, and pg-boss's index of fetches has no entry of it. In pg-boss the job
   * waits for other jobs.
   */
  blocked: ['bool', 'whether the job obeys a recipient'],
  output: ['jsonb', 'what the last attempt left'],
  policy: ['text', "the queue's policy, which all of our queues have as it comes"],
  dead_letter: ['text', "the queue of the job's dead letter"],
  source_name: ['text', 'of a dead letter: the queue of the job'],
  source_id: ['uuid', 'of a dead letter: the job'],
  source_created_on: ['timestamptz', 'of a dead letter: when the job was made'],
  source_root_id: ['uuid', 'of a dead letter: the job, as pg-boss has it'],
  source_retry_count: ['int4', 'of a dead letter: the attempts of the job before its last one'],
  source_output: ['jsonb', 'of a dead letter: what the last attempt of the job left'],
} as const satisfies Record<string, Column>

const QUEUE = {
  name: ['text', 'the queue'],
  policy: ['text', 'is copied into its jobs'],
  expire_seconds: ['int4', 'is copied into its jobs'],
  deletion_seconds: ['int4', 'is copied into its jobs'],
  retention_seconds: ['int4', 'how long its waiting jobs are kept'],
  dead_letter: ['text', 'the queue of its dead letters; null for such a queue'],
  table_name: ['text', 'the partition that has its jobs'],
  /** pg-boss counts them every few seconds. */
  queued_count: ['int4', 'how many jobs wait'],
  active_count: ['int4', 'how many jobs are active'],
} as const satisfies Record<string, Column>

export const COLUMNS: Record<'job' | 'queue' | 'version', Record<string, Column>> = {
  job: JOB,
  queue: QUEUE,
  version: { version: ['int4', "the version of pg-boss's tables"] },
}

/** `state < 'active'` are the jobs that wait. */
export const STATES = ['created', 'retry', 'active', 'completed', 'cancelled', 'failed']

// The definitions of indexes are written as Postgres writes them, to be compared with what it has.
const WAITS = `blocked AND (state < 'active'::svc_jobs.job_state)`
const IS_DEAD_LETTER = `name ~~ '%.dlq'::text`

/** Of pg-boss, in each table of jobs, under any name. */
export const INDEXES_OF_PG_BOSS = [
  'UNIQUE USING btree (name, id)',
  /** The order of the fetches of jobs without a recipient. */
  `USING btree (name, priority DESC, created_on, start_after) WHERE ((state < 'active'::svc_jobs.job_state) AND (NOT blocked))`,
  /** The attempts of a recipient that are under way. */
  `USING btree (name, group_id) WHERE ((state = 'active'::svc_jobs.job_state) AND (group_id IS NOT NULL))`,
]

/**
 * Ours, in each table of jobs of our queues: of jobs of recipients that wait, of retries among them by when they are
 * due, and of those that wait aside by age; and of active jobs without a recipient. They are partial, so that other
 * jobs do not pay for them. The name of the table follows.
 */
export const INDEXES = {
  svc_waiting_: `USING btree (priority, singleton_key, start_after) WHERE (${WAITS})`,
  svc_due_: `USING btree (start_after) WHERE (${WAITS} AND (priority = '-1'::integer))`,
  svc_ordered_: `USING btree (singleton_key, created_on, id) WHERE (${WAITS} AND (priority = '-2'::integer))`,
  svc_active_: `USING btree (name) WHERE ((state = 'active'::svc_jobs.job_state) AND (group_id IS NULL))`,
}

/** Dead letters of all queues are in this table, see `partition` of pg-boss's `createQueue`. */
export const SHARED_TABLE = 'job_common'

/** Ours, in the shared table: for lists of dead letters. They contain no jobs of other queues. */
export const DEAD_LETTER_INDEXES = {
  svc_dead_letters: `USING btree (name, singleton_key, id) WHERE (${IS_DEAD_LETTER})`,
  svc_dead_letters_event: `USING btree (name, ((data ->> 'event'::text)), id) WHERE (${IS_DEAD_LETTER})`,
  svc_dead_letters_event_id: `USING btree (name, substr((data ->> 'eventId'::text), (strpos((data ->> 'eventId'::text), '\x1f'::text) + 1)), id) WHERE (${IS_DEAD_LETTER})`,
  svc_dead_letters_delivery_id: `USING btree (name, ((data ->> 'deliveryId'::text))) WHERE (${IS_DEAD_LETTER})`,
  svc_dead_letters_status_code: `USING btree (name, ((source_output ->> 'statusCode'::text)), id) WHERE (${IS_DEAD_LETTER})`,
}

/**
 * Of pg-boss, in each table of jobs of our queues, and dropped there: a third of what it costs Postgres to write and
 * delete a job. The foreign keys say that the queue and that of its dead letters exist, whose rows are read for each
 * job; the indexes have throttled jobs, jobs that others wait for, and jobs that were dead letters before, of which
 * these tables have none. The check repeats which queue the table is of, and each insert statement reads its text
 * anew. The name of the table precedes those of indexes.
 */
export const DROPPED = {
  constraints: ['q_fkey', 'dlq_fkey', 'cjc'],
  indexes: ['_i4', '_i9', '_i12'],
}

/** In the data of a delivery that tests a webhook. It tells of nothing that has happened: a recovery leaves it out. */
export const IS_TEST = `'{"isTest": true}'`

/** The name of an index of ours. Postgres cuts longer names off. */
export const indexName = (prefix: string, table: string): string => (prefix + table).slice(0, 63)
