/** Grants of limits and quotas. Postgres decides, by its clock, for all processes. */
import type { Db } from '@svc/core/internal'
import type { Answer, Batch } from './allowance-terms.ts'

/** `atMs`: in place of the time of Postgres, for tests. */
export async function takeAllowances(
  db: Db,
  { holder, lateMs, requests }: Batch,
  atMs: number | null = null,
): Promise<Answer[]> {
  const returns = requests.flatMap(({ returns: given }, index) =>
    given.map(({ stamp, count }) => ({ place: index + 1, stamp, count })),
  )
  const needs = requests.flatMap((request) => request.needs)
  let needsEnd = 0
  const { rows } = await db.query(
    `select coalesce(json_agg(json_build_array(granted, ahead, stamp, used, valid_ms, retry_ms,
              others_hold) order by place), '[]')::text as answers
       from svc."__svc.auth.grant_allowances"($1::uuid, $2::float8, $3::text[], $4::text[],
         $5::integer[], $6::integer[], $7::integer[], $8::integer[], $9::integer[], $10::integer[],
         $11::integer[], $12::integer[], $13::float8[], $14::integer[], $15::float8)`,
    [
      holder,
      lateMs,
      arrayOf(requests.map(({ rule }) => rule.subject)),
      arrayOf(requests.map(({ rule }) => rule.period)),
      arrayOf(requests.map(({ rule }) => rule.limit)),
      arrayOf(requests.map(({ want }) => want)),
      arrayOf(requests.map(({ ahead }) => ahead)),
      arrayOf(requests.map(({ held }) => held)),
      arrayOf(requests.map((request) => (needsEnd += request.needs.length))),
      arrayOf(needs.map(({ cost }) => cost)),
      arrayOf(needs.map(({ times }) => times)),
      arrayOf(returns.map(({ place }) => place)),
      arrayOf(returns.map(({ stamp }) => stamp)),
      arrayOf(returns.map(({ count }) => count)),
      atMs,
    ],
  )
  // Read here: the host's type parsers decide what pg makes of JSON, and the grants are committed.
  return (JSON.parse(rows[0].answers) as AnswerRow[]).map(answerOf)
}

/**
 * In a third of the time that `pg` takes, which escapes character by character: a subject has none
 * that need it, and a process requests allowances of thousands of limits in a second.
 */
const arrayOf = (values: readonly (string | number)[]): string => `{${values.join(',')}}`

type AnswerRow = [
  granted: number,
  ahead: number,
  stamp: number,
  used: number,
  validMs: number | null,
  retryMs: number | null,
  othersHold: number,
]

const answerOf = ([
  granted,
  ahead,
  stamp,
  used,
  validMs,
  retryMs,
  othersHold,
]: AnswerRow): Answer => ({
  granted,
  ahead,
  stamp,
  used,
  validMs,
  retryMs,
  othersHold,
})

/** Deletes rows of windows that have passed, in portions that keep no lock for long. */
export async function sweepWindows(db: Db, stopping?: AbortSignal): Promise<void> {
  const portion = 5000
  for (;;) {
    const { rowCount } = await db.query(
      `with passed as materialized (
         select subject, per_seconds from svc."__svc.auth.windows"
          where unused_after <= now() limit $1 for update skip locked)
       delete from svc."__svc.auth.windows" as windows
        using passed
        where (passed.subject, passed.per_seconds) = (windows.subject, windows.per_seconds)`,
      [portion],
    )
    if ((rowCount ?? 0) < portion || stopping?.aborted) return
  }
}
