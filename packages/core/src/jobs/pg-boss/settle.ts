/** Ends the attempts of claimed jobs. The function "__svc.settle" of Postgres says what is done with each. */
import { storableJson } from '../../postgres/storable.ts'
import type { Db } from '../../postgres/transaction.ts'
import type { Job } from '../job.ts'

export type Claim = Pick<Job, 'id' | 'startedOn'>

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
  dead: { job: Claim; output: object }[]
}

/** Rows, and the function of the schema `svc` that writes them: see `Recorder`. */
export interface Rows {
  function: string
  rows: object[]
}

export interface NextAttempt {
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

/** Returns the jobs whose lease was still ours by their ids, with the time of the next attempt where it is known. */
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
  const others = [...failed, ...postponed, ...dead].map(({ job }): Claim => job).concat(parked)
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
