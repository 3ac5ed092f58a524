/**
 * Settles the outcomes of a batch, each by what has become of its job. The function "__svc.settle" of Postgres
 * says what is done with each.
 */
import { storableJson } from '../../postgres/storable.ts'
import type { Db } from '../../postgres/transaction.ts'
import type { WorkerPool } from '../../postgres/worker-pool.ts'
import type { Job } from '../job.ts'
import {
  resultOf,
  type Ended,
  type JobOutcome,
  type Outcome,
  type Settled,
  type Worker,
} from '../worker.ts'

type Recorder = Pick<Worker, 'queue' | 'record' | 'follow' | 'settled'>
type Pool = Pick<WorkerPool, 'prepared' | 'transaction'>

/** `settleBatch` for an `OutcomeBuffer`, with or without the rows that record the outcomes. */
export const settleFor =
  (worker: Recorder, pool: Pool, settled: (settled: Settled[]) => void) =>
  (batch: readonly JobOutcome[], lockMs: number, isRecorded: boolean): Promise<void> =>
    settleBatch(pool, isRecorded ? worker : { queue: worker.queue }, batch, lockMs, settled)

/**
 * One statement settles the outcomes of which nothing but rows follows, and a transaction all others. Where
 * the latter fails, the batch is settled again: what was settled before does not change any more. Calls
 * `settled` with what was committed, save jobs that are done.
 *
 * A job whose lease has expired may belong to another process by now: it is not changed, and not recorded.
 * `lockMs`: how long the transaction waits for a row that others hold.
 */
export async function settleBatch(
  pool: Pool,
  worker: Recorder,
  batch: readonly JobOutcome[],
  lockMs: number,
  settled: (settled: Settled[]) => void,
): Promise<void> {
  const { queue } = worker
  const alone: Ended[] = []
  const others: Ended[] = []
  const rows: object[] = []
  for (const outcome of batch) {
    const ended = { ...outcome, result: resultOf(outcome) }
    const its = rowsOf(worker, ended)
    if (its === null) others.push(ended)
    else {
      alone.push(ended)
      rows.push(...its)
    }
  }
  const record = worker.record && { function: worker.record.function, rows }
  const next = await settleAndRecord(pool.prepared, queue, endsOf(alone), record)
  const tell = (all: Settled[]): void => {
    worker.settled?.(all)
    settled(all)
  }
  if (next.size > 0) tell(settledOf(alone, next))
  if (others.length === 0) return
  const all = await pool.transaction(
    async (db) => {
      const ended = settledOf(others, await settle(db, queue, endsOf(others)))
      if (ended.length > 0) await worker.follow?.(db, ended)
      return ended
    },
    { lockMs },
  )
  tell(all)
}

/** The rows to write with the settlement of one outcome in one statement; `null`: it needs a transaction. */
export function rowsOf({ record, follow }: Recorder, ended: Ended): object[] | null {
  if (ended.result === 'dead' && follow) return null
  return record ? record.rowsOf(ended) : []
}

/** `now`: by the monotonic clock. */
export function endsOf(all: readonly Ended[], now = performance.now()): Ends {
  const ends: Ends = { done: [], failed: [], postponed: [], parked: [], dead: [] }
  for (const ended of all) {
    const { job, outcome } = ended
    if (ended.result === 'dead') {
      const { output = {} } = outcome as { output?: object }
      ends.dead.push({ job, output })
    } else if (outcome.kind === 'failed') ends.failed.push(failedOf(ended, outcome, now))
    else if (outcome.kind === 'postponed') {
      const { delayMs, isUnsent = false } = outcome
      ends.postponed.push({ job, delayMs, isUnsent })
    } else if (outcome.kind === 'parked') ends.parked.push(job)
    else ends.done.push(job)
  }
  return ends
}

function failedOf(
  { job, endedAt }: Ended,
  { schedule, retryAfterMs, isUnsent }: Extract<Outcome, { kind: 'failed' }>,
  now: number,
): Ends['failed'][number] {
  const delayMs = schedule?.retryInMs ?? null
  const left = schedule?.attemptsLeft ?? job.attemptsLeft
  return {
    job,
    atLeastMs: retryAfterMs ?? 0,
    // The delay of a schedule is from the end of the attempt.
    exactlyMs: delayMs === null ? null : Math.max(0, delayMs - (now - (endedAt ?? now))),
    attemptsLeft: left === job.attemptsLeft ? null : left,
    isUnsent: isUnsent === true,
  }
}

const settledOf = (all: readonly Ended[], changed: Map<string, NextAttempt | null>): Settled[] =>
  all.flatMap((ended) => {
    const next = changed.get(ended.job.id)
    if (next === undefined) return []
    return [{ ...ended, nextAttemptAt: next?.at ?? null, nextAttemptInMs: next?.inMs ?? null }]
  })

/**
 * Whether a job may be settled a little later: other jobs wait for a probe, and for one of a restricted recipient
 * that has failed.
 */
export const mayWait = ({ job, outcome }: JobOutcome): boolean =>
  (outcome.kind === 'completed' || (outcome.kind === 'failed' && job.permit === undefined)) &&
  job.isProbe !== true

/**
 * Whether it is settled alone, in a transaction of its own: a refusal disables its webhook, and a probe that
 * has succeeded resumes its recipient. Transactions of the host may hold these rows for as long as they take.
 */
export const settlesAlone = ({ job, outcome }: JobOutcome): boolean =>
  outcome.kind === 'rejected' || (outcome.kind === 'completed' && job.isProbe === true)

/**
 * Whether its settlement, beside the state of the job, writes rows that tell of it and nothing else. With
 * the others a webhook is disabled or resumed, or an event published.
 */
export const isOnlyRecorded = (one: JobOutcome): boolean =>
  !settlesAlone(one) && resultOf(one) !== 'dead'

export interface Ends {
  done: Job[]
  failed: {
    job: Job
    /** The next attempt does not begin before this time has passed. */
    atLeastMs: number
    /** Instead of the back-off that the publish has written into the job; `null` for that. */
    exactlyMs: number | null
    /** Where the row of the job has another number of attempts left, else `null`. */
    attemptsLeft: number | null
    /** The attempt was not sent, as those before it. */
    isUnsent: boolean
  }[]
  postponed: { job: Job; delayMs: number; isUnsent: boolean }[]
  /** They wait until their recipient can have them. */
  parked: Job[]
  dead: { job: Job; output: object }[]
}

/** Rows, and the function of the schema `svc` that writes them: see `Recorder`. */
interface Rows {
  function: string
  rows: object[]
}

interface NextAttempt {
  at: Date
  /** The milliseconds until then by the clock of Postgres, which may differ from that of the process. */
  inMs: number
}

const SETTLE = `svc."__svc.settle"($1, $2, $3::timestamptz[], $4, $5, $6, $7, $8)`

const DONE = `select count(*) from ${SETTLE}`

const doneAndRecorded = (record: string): string =>
  `select svc."${record}"(array(select id from ${SETTLE}), null, $9)`

const SETTLED = `select id, extract(epoch from next_at)::float8 * 1000 as at,
       extract(epoch from next_at - clock_timestamp())::float8 * 1000 as "inMs"
  from ${SETTLE}`

const settledAndRecorded = (record: string): string => `
  with settled as materialized (
    select id, next_at from ${SETTLE}
  ), recorded as materialized (
    select svc."${record}"(array(select id from settled), array(select next_at from settled), $9)
  )
  select id, extract(epoch from next_at)::float8 * 1000 as at,
         extract(epoch from next_at - clock_timestamp())::float8 * 1000 as "inMs"
    from settled cross join recorded`

/** Settles in a transaction. Returns the jobs whose lease was still ours by their ids, with the time of the next attempt where it is known. */
export async function settle(
  db: Db,
  queue: string,
  ends: Ends,
): Promise<Map<string, NextAttempt | null>> {
  const { rows } = await db.query(SETTLED, valuesOf(queue, ends))
  return settledIn(rows)
}

/** The same with the rows that tell of the attempts, in one statement. Jobs that are done are not returned. */
export async function settleAndRecord(
  db: Db,
  queue: string,
  ends: Ends,
  record: Rows | undefined,
): Promise<Map<string, NextAttempt | null>> {
  const values = valuesOf(queue, ends)
  if (record) values.push(storableJson(record.rows))
  const { failed, postponed, parked, dead } = ends
  if (failed.length + postponed.length + parked.length + dead.length > 0) {
    const statement = record ? settledAndRecorded(record.function) : SETTLED
    return settledIn((await db.query(statement, values)).rows)
  }
  if (ends.done.length > 0) await db.query(record ? doneAndRecorded(record.function) : DONE, values)
  return new Map()
}

function valuesOf(queue: string, { done, failed, postponed, parked, dead }: Ends): unknown[] {
  const others = [...[...failed, ...postponed, ...dead].map(({ job }) => job), ...parked]
  const all = [...done, ...others]
  return [
    queue,
    all.map(({ id }) => id),
    all.map(({ startedOn }) => startedOn),
    others.length === 0 ? null : done.map(({ id }) => id),
    listOf(failed.map(({ job, ...its }) => ({ id: job.id, ...its, ...attemptedIn(job) }))),
    listOf(postponed.map(({ job, ...its }) => ({ id: job.id, ...its }))),
    listOf(parked.map((job) => ({ id: job.id, ...recipientOf(job) }))),
    listOf(dead.map(({ job, output }) => ({ id: job.id, output }))),
  ]
}

interface Row {
  id: string
  at: number | null
  inMs: number | null
}

const settledIn = (rows: Row[]): Map<string, NextAttempt | null> =>
  new Map(rows.map(({ id, at, inMs }) => [id, nextOf(at, inMs)]))

const nextOf = (at: number | null, inMs: number | null): NextAttempt | null =>
  at === null || inMs === null ? null : { at: new Date(at), inMs }

const listOf = (rows: object[]): string | null => (rows.length === 0 ? null : storableJson(rows))

const attemptedIn = ({ traceContext = null }: Job) => ({ attemptedIn: traceContext })

const recipientOf = ({ recipient, isProbe = false }: Job) => ({ recipient, isBehind: isProbe })
