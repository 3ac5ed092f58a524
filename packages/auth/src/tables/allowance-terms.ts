/** The types of a request for allowances, and of the answer of Postgres. */

/** How many, in which time: seconds of a sliding window, or a period of the UTC calendar. */
export type Period = number | 'day' | 'month' | 'total'

export interface Rule {
  /** Whose: `key:<id>` or `tenant:<name>`. */
  readonly subject: string
  readonly period: Period
  readonly limit: number
}

export interface AllowanceRequest {
  readonly rule: Rule
  /** How many allowances the waiting requests need. */
  readonly want: number
  /** Of a quota: the same by what each request costs. Each gets all that it needs, or nothing. */
  readonly needs: readonly Need[]
  /** How many allowances for later requests are requested, at most. */
  readonly ahead: number
  /**
   * Of a limit: the number of allowances that the process already holds ahead of need. Of a quota: what
   * it holds in all, which it spends first.
   */
  readonly held: number
  /** Allowances that it gives back, by their stamps. */
  readonly returns: readonly Return[]
}

/** As many requests, one after the other. */
export interface Need {
  readonly cost: number
  times: number
}

export interface Return {
  stamp: number
  count: number
}

export interface Answer {
  granted: number
  ahead: number
  /** Names the grant, where a part of it is given back. */
  stamp: number
  /** How much of the limit all processes have used, with these grants. */
  used: number
  /**
   * How many milliseconds allowances that are granted ahead of need may be used; `null`: forever.
   */
  validMs: number | null
  /** Milliseconds until more can be granted; `null`: never. */
  retryMs: number | null
  /** What may be given back soon: what other processes hold ahead of need, or were granted just now. */
  othersHold: number
}

/** One statement. */
export interface Batch {
  /** Names the process; another one after a statement that failed. */
  holder: string
  /** Allowances of waiting requests are used within this time, or given back. */
  lateMs: number
  requests: readonly AllowanceRequest[]
}

export const idOf = ({ subject, period }: Rule): string => `${subject}/${period}`
