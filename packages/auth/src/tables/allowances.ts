/** Allotments of limits and quotas. Postgres decides, by its clock, for all processes. */
import type { Db } from '@svc/core/internal'
import type { QuotaPeriod } from '../limit-fields.ts'
import { deleteInPortions } from './portions.ts'

/** How many, in which time: seconds of a sliding window, or a period of the UTC calendar. */
export type Period = number | QuotaPeriod

export interface Rule {
  /** Whose: the id of a key, or `tenant:<name>`. */
  readonly subject: string
  readonly period: Period
  readonly limit: number
  /** What a quota is used for counts for these periods too: those of the other plans of its tenant. */
  readonly periods?: readonly QuotaPeriod[] | null | undefined
}

/** What a process asks of one limit or quota. */
export interface Place extends Rule {
  /** Whether requests wait for it. */
  readonly demanded: boolean
  /** How many allowances for later requests are requested, at most. */
  readonly ahead: number
  /** How many allowances the process holds, with those that are reserved for demands. */
  readonly held: number
  /** How many it gives back of allotments since that with the stamp. */
  readonly returned: number
  readonly stamp: number
}

/** Requests of one key that wait. Each takes of all its limits and its quota, or of none. */
export interface Demand {
  /** `reserved`: how much of what the process holds is theirs. */
  readonly on: readonly { place: number; limit: number; reserved: number }[]
  readonly needs: readonly Need[]
}

/** As many requests, one after the other, of which each takes `cost` of the quota. */
export interface Need {
  readonly cost: number
  times: number
}

/** One statement. */
export interface Batch {
  /** Names the process; another one after a statement that failed. */
  readonly holder: string
  /** Allowances of waiting requests are used within this time, or not at all. */
  readonly lateMs: number
  readonly places: readonly Place[]
  readonly demands: readonly Demand[]
}

export interface Answer {
  /** Of each demand and each of its needs: how many requests pass. */
  readonly passed: readonly (readonly number[])[]
  readonly places: readonly PlaceAnswer[]
}

export interface PlaceAnswer {
  readonly ahead: number
  /** Names the allotment, where a part of it is given back. */
  readonly stamp: number
  /** How much of the limit all processes have used, with these allotments. */
  readonly used: number
  /** How many milliseconds what the process holds may be used; `null`: for ever. */
  readonly validMs: number | null
  /** Milliseconds until more can be allotted; `null`: never, or at once where nothing is used. */
  readonly retryMs: number | null
}

export const idOf = ({ subject, period }: Pick<Rule, 'subject' | 'period'>): string =>
  `${subject}/${period}`

/**
 * `atMs`: in place of the time of Postgres, for tests.
 *
 * @throws where the answer is not one for each demand and place
 */
export async function takeAllowances(
  db: Db,
  { holder, lateMs, places, demands }: Batch,
  atMs: number | null = null,
): Promise<Answer> {
  const { rows } = await db.query(
    `select svc."__svc.auth.allot_allowances"($1::uuid, $2::float8, $3::jsonb, $4::jsonb,
              $5::float8)::text as answer`,
    [
      holder,
      lateMs,
      JSON.stringify(places.map(({ period, ...place }) => ({ ...place, ...spanOf(period) }))),
      JSON.stringify(
        demands.map(({ on, needs }) => ({
          on: on.map(({ place, limit, reserved }) => [place, limit, reserved]),
          needs: needs.map(({ cost, times }) => [cost, times]),
        })),
      ),
      atMs,
    ],
  )
  // Read here: the host's type parsers decide what pg makes of JSON, and the allotments are committed.
  const answer = JSON.parse(rows[0].answer) as { passed: number[][]; places: PlaceRow[] }
  if (answer.passed.length !== demands.length || answer.places.length !== places.length) {
    throw new Error('Postgres answered another number of limits than it was asked for')
  }
  return { passed: answer.passed, places: answer.places.map(answerOf) }
}

const spanOf = (period: Period): object =>
  typeof period === 'number' ? { seconds: period } : { period }

type PlaceRow = [
  ahead: number,
  stamp: number,
  used: number,
  validMs: number | null,
  retryMs: number | null,
]

const answerOf = ([ahead, stamp, used, validMs, retryMs]: PlaceRow): PlaceAnswer => ({
  ahead,
  stamp,
  used,
  validMs,
  retryMs,
})

/** Deletes rows of windows that have passed. */
export async function sweepWindows(db: Db, stopping?: AbortSignal): Promise<void> {
  const passed = `
    with passed as materialized (
      select subject, per_seconds from svc."__svc.auth.windows"
       where unused_after <= now() limit $1 for update skip locked)
    delete from svc."__svc.auth.windows" as windows
     using passed where (passed.subject, passed.per_seconds) = (windows.subject, windows.per_seconds)`
  await deleteInPortions(db, passed, [], stopping)
}

/**
 * For `advance`: what is allotted and held becomes `seconds` older. A period begins by the calendar: it is over where the
 * time that has passed, with the seconds before, leads into the next.
 */
export async function shiftAllowances(
  db: Db,
  seconds: number,
  alreadySeconds: number,
): Promise<void> {
  await db.query(
    `update svc."__svc.auth.windows"
        set allotted_at = array(select at - $1::float8 * 1000
              from unnest(allotted_at) with ordinality as given (at, n) order by n),
            held_until = array(select at - $1::float8 * 1000
              from unnest(held_until) with ordinality as given (at, n) order by n)`,
    [seconds],
  )
  await db.query(
    `delete from svc."__svc.auth.quotas"
      where period <> 'total'
        and date_trunc(period, now() + make_interval(secs => $2::float8), 'utc')
            < date_trunc(period, now() + make_interval(secs => $1::float8 + $2::float8), 'utc')`,
    [seconds, alreadySeconds],
  )
}
