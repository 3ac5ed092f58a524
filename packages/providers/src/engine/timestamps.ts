/** How old a request is. */

/** In which form a sender writes the time. */
export type TimestampForm = 'seconds' | 'milliseconds' | 'either' | 'rfc3339'

/** Only plain digits count as a number: `Number` would also read `1e9`, `0x5f`, ` 1 ` and ``. */
const DIGITS = /^\d{1,13}$/
/** A time with an offset: without one its zone would be unknown. */
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i

/** Milliseconds since 1970; `undefined` where the text is no timestamp of this unit. */
export function millisecondsOf(text: string, unit: TimestampForm = 'seconds'): number | undefined {
  if (unit === 'rfc3339') {
    const ms = RFC3339.test(text) ? Date.parse(text) : Number.NaN
    return Number.isNaN(ms) ? undefined : ms
  }
  if (!DIGITS.test(text)) return undefined
  // Seconds have ten digits until the year 2286, milliseconds thirteen.
  const isMs = unit === 'milliseconds' || (unit === 'either' && text.length > 11)
  return isMs ? Number(text) : Number(text) * 1000
}

/** Whether a time is no further than `toleranceSeconds` from now, in the past or the future. */
export function isTimely(
  ms: number,
  unit: TimestampForm = 'seconds',
  toleranceSeconds: number,
  nowMs: number,
): boolean {
  // Whole seconds on both sides, as the libraries of the senders compare: the bound is inside.
  const now = unit === 'seconds' ? Math.floor(nowMs / 1000) * 1000 : nowMs
  return Math.abs(now - ms) <= toleranceSeconds * 1000
}
