/** The jobs whose attempts are used up, which pg-boss has copied to `<queue>.dlq`. */
import type { Db } from './database.ts'
import { deadLetterQueueOf, hasTimedOut, type DeadLetter } from './job.ts'

const COLUMNS = `id, data, source_output as output, source_retry_count + 1 as attempts,
  created_on as "deadAt"`

/** Newest first; `after` is the id of the last one seen. */
export async function listDeadLetters(
  db: Db,
  queue: string,
  { group, limit, after, ids }: { group?: string; limit?: number; after?: string; ids?: string[] },
): Promise<DeadLetter[]> {
  const { rows } = await db.query(
    `select ${COLUMNS}
       from svc_jobs.job
      where name = $1
        and ($2::text is null or singleton_key = $2)
        and ($3::uuid[] is null or id = any($3))
        and ($4::uuid is null or (created_on, id) <
             (select created_on, id from svc_jobs.job where name = $1 and id = $4))
      order by created_on desc, id desc
      limit $5`,
    [deadLetterQueueOf(queue), group ?? null, ids ?? null, after ?? null, limit ?? null],
  )
  return rows.map(asDeadLetter)
}

/**
 * Takes dead letters out of their queue; whoever calls puts them back to work in the same
 * transaction. Two at once share them: each letter goes to one.
 */
export async function takeDeadLetters(
  db: Db,
  queue: string,
  { group, ids }: { group: string; ids?: string[] },
): Promise<DeadLetter[]> {
  const { rows } = await db.query(
    `delete from svc_jobs.job
      where name = $1 and singleton_key = $2 and ($3::uuid[] is null or id = any($3))
     returning ${COLUMNS}`,
    [deadLetterQueueOf(queue), group, ids ?? null],
  )
  return rows.map(asDeadLetter)
}

const asDeadLetter = (row: DeadLetter): DeadLetter => ({
  ...row,
  output: hasTimedOut(row.output) ? undefined : row.output,
  deadAt: new Date(row.deadAt),
})
