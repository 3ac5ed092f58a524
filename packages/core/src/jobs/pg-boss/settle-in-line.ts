/** Settles a completed job of an ordered group and claims the next one, in one statement. */
import type { Db } from '../../postgres/transaction.ts'
import type { Job } from '../job.ts'
import { asJob, type JobRow } from './jobs-table.ts'
import { NEXT, nextInLine } from './next-in-line.ts'
import { FIRST_PARAMETER, type AttemptedJob, type Worker } from '../worker.ts'
import { COMPLETED_ONE } from './settle-completed.ts'

export interface SettledInLine {
  /** The next job, which this process has claimed. */
  next: Job | null
  /** Whether no job of the group waits. */
  isEmpty: boolean
}

interface Row {
  next: string | null
  isEmpty: boolean | null
}

/** Returns `null` where the job needs more than one statement: nothing was settled. */
export async function settleInLine(
  db: Db,
  worker: Pick<Worker, 'queue' | 'recordCompleted' | 'readWithClaim'>,
  completed: AttemptedJob,
  owner: string | null,
): Promise<SettledInLine | null> {
  const { job } = completed
  const recorded = worker.recordCompleted?.([completed])
  if (!recorded) return null
  const group = FIRST_PARAMETER + recorded.values.length
  const parts = nextInLine({
    group: `$${group}`,
    owner: `$${group + 1}`,
    read: worker.readWithClaim ?? 'null::json',
  })
  const { rows } = await db.query(
    `with ${COMPLETED_ONE}, ${parts} ${recorded.insert} returning ${NEXT}`,
    [worker.queue, job.id, job.startedOn, ...recorded.values, job.group, owner],
  )
  const { next = null, isEmpty = null } = (rows[0] ?? {}) as Partial<Row>
  return { next: next === null ? null : nextOf(next), isEmpty: isEmpty === true }
}

function nextOf(text: string): Job {
  const row = JSON.parse(text) as JobRow<unknown> & { read: unknown }
  return { ...asJob(row), ...(row.read === null ? {} : { read: row.read }) }
}
