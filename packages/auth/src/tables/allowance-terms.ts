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
  /** How many allowances for later requests are requested, at most. */
  readonly ahead: number
  /** The number of allowances that the process already holds ahead of need. */
  readonly held: number
  /** Allowances that it gives back, by their stamps. */
  readonly returns: readonly Return[]
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
