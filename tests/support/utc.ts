/** Quotas and usage are counted by the hour, the day and the month of UTC. */
import { until } from './until.ts'

const LENGTH_MS = { hour: 3_600_000, day: 86_400_000 }
/** Longer than a test takes. */
const LEFT_MS = 30_000

/** Where an hour or a day ends soon, waits for the next one. A month ends with a day. */
export const farFromEndOf = (period: keyof typeof LENGTH_MS): Promise<boolean> =>
  until(() => LENGTH_MS[period] - (Date.now() % LENGTH_MS[period]) > LEFT_MS)
