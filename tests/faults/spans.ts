/** How many of what lasts for a while there are. Pure. */
import type { Disturbance, Span } from './ledger.ts'

/** How long afterwards work that was taken for lost may run beside what was given anew. */
const AFTER_MS = 5000

const untilOf = ({ kind, until }: Disturbance): number =>
  kind === 'crash' || kind === 'partition' ? until + AFTER_MS : until

const isCalm = (span: Span, disturbances: readonly Disturbance[]): boolean =>
  disturbances.every((one) => one.from > span.until || untilOf(one) < span.from)

/** The most that lie as a whole within any time of `ms` in which nothing disturbs. */
export function mostWithin(
  spans: readonly Span[],
  ms: number,
  disturbances: readonly Disturbance[],
): number {
  const counts = spans.map(({ from }) => {
    const window = { from, until: from + ms }
    if (!isCalm(window, disturbances)) return 0
    return spans.filter((one) => one.from >= from && one.until < window.until).length
  })
  return Math.max(0, ...counts)
}

/** The most that last at any moment in which nothing disturbs. */
export function mostAtOnce(spans: readonly Span[], disturbances: readonly Disturbance[]): number {
  const counts = spans.map(({ from }) => {
    if (!isCalm({ from, until: from }, disturbances)) return 0
    return spans.filter((one) => one.from <= from && one.until > from).length
  })
  return Math.max(0, ...counts)
}
