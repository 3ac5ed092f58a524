/**
 * The statement for failed jobs that are tried again. pg-boss's own takes no delay of ours, deletes each
 * row and inserts it anew.
 */
import type { Db } from '../../postgres/transaction.ts'
import { PRIORITY, type Job } from '../job.ts'
import type { RecordedRetries } from '../worker.ts'
import { changeClaimed, type ClaimedJobs, type QueueTable } from './queue-table.ts'
import { NEXT_ATTEMPT, nextAttemptsOf, type NextAttempt } from './jobs-table.ts'

export interface RetriedJob {
  job: Job
  /** The next attempt does not begin before this time has passed. */
  atLeastMs: number
  /** Instead of pg-boss's back-off; `null` for that. */
  exactlyMs: number | null
  /** Where the row of the job has another number of attempts left. */
  attemptsLeft: number | null
  /** The attempt was not sent, as those before it. */
  isUnsent: boolean
}

/** pg-boss's back-off, from the columns that the publish has written. */
const BACK_OFF = `case when job.retry_backoff
    then least(job.retry_delay_max,
               greatest(job.retry_delay, 1) * 2 ^ least(16, job.retry_count + 1) / 2 * (1 + random()))
    else job.retry_delay end * interval '1 second'`

/** The job says how many attempts its publish gave it: without a schedule they are its attempts again. */
const WITH_PUBLISHED_LIMIT = `case when failed.attempts_left is null then job.data
  else jsonb_build_object('publishedRetryLimit', job.retry_limit) || job.data end`

const NEW_DATA = `(
  select case
      when failed.attempted_in is null and (failed.is_unsent or not before.data ? 'unsentSince')
        then before.data
      else case when failed.is_unsent then before.data else before.data - 'unsentSince' end
        || jsonb_strip_nulls(jsonb_build_object('attemptedIn', failed.attempted_in)) end
    from (select ${WITH_PUBLISHED_LIMIT}) as before (data))`

/**
 * A part of a `with`: `retried` has the `id` of each job that waits for its next attempt now, and
 * `start_after`. `$2` are the ids of all jobs given, in their order.
 */
const retried = ({ table, condition }: ClaimedJobs): string => `retried as (
  update ${table} as job
     set state = 'retry', priority = $9, heartbeat_on = null, output = '{}',
         retry_limit = coalesce(job.retry_count + failed.attempts_left, job.retry_limit),
         start_after = greatest(
           now() + coalesce(failed.exactly * interval '1 millisecond', ${BACK_OFF}),
           now() + failed.at_least * interval '1 millisecond'),
         data = ${NEW_DATA}
    from unnest($2::uuid[], $3::timestamptz[], $4::float8[], $5::float8[], $6::int[], $7::text[],
                $8::bool[])
           as failed (id, started_on, at_least, exactly, attempts_left, attempted_in, is_unsent)
   where ${condition} and job.id = failed.id
  returning job.id, job.start_after)`

export const FIRST_PARAMETER_AFTER_RETRIED = 10

const retriedValues = (queue: string, jobs: RetriedJob[]): unknown[] => [
  queue,
  jobs.map(({ job }) => job.id),
  jobs.map(({ job }) => job.startedOn),
  jobs.map(({ atLeastMs }) => atLeastMs),
  jobs.map(({ exactlyMs }) => exactlyMs),
  jobs.map(({ attemptsLeft }) => attemptsLeft),
  jobs.map(({ job }) => job.traceContext ?? null),
  jobs.map(({ isUnsent }) => isUnsent),
  PRIORITY.retry,
]

/**
 * Sends failed jobs to the retry lane, and runs `others`, further parts of the same `with`, with their
 * parameters. Returns when the next attempt of each is.
 */
export async function retryJobs(
  db: Db,
  table: QueueTable,
  jobs: RetriedJob[],
  others: RecordedRetries = { parts: '', values: [] },
): Promise<Map<string, NextAttempt>> {
  if (jobs.length === 0) return new Map()
  const values = [...retriedValues(table.queue, jobs), ...others.values]
  const { rows } = await changeClaimed(db, table, jobs.length, (claimed) =>
    db.query(
      `with ${retried(claimed)} ${others.parts}
       select job.id, ${NEXT_ATTEMPT} from retried as job`,
      values,
    ),
  )
  return nextAttemptsOf(rows)
}
