/** What a timestamp counts since 1970. */
export type TimestampUnit = 'seconds' | 'milliseconds'

/**
 * Whether a timestamp is no further than `toleranceSeconds` from now, in the past or the future.
 * Only plain digits are a timestamp: `Number` would also read `1e9`, `0x5f`, ` 1 ` and ``.
 */
export function isTimely(
  timestamp: string,
  unit: TimestampUnit,
  toleranceSeconds: number,
  nowMs: number,
): boolean {
  if (!/^\d{1,13}$/.test(timestamp)) return false
  if (unit === 'milliseconds') {
    return Math.abs(nowMs - Number(timestamp)) <= toleranceSeconds * 1000
  }
  // Whole seconds on both sides, as the senders' own libraries compare: the edge is inside.
  return Math.abs(Math.floor(nowMs / 1000) - Number(timestamp)) <= toleranceSeconds
}
