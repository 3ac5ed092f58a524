/** The most of these that came, or began, within any span of `spanMs` milliseconds. */
export function mostWithin(requests: readonly { at: Date }[], spanMs: number): number {
  const times = requests.map(({ at }) => at.getTime())
  const counts = times.map((from) => times.filter((at) => at >= from && at < from + spanMs).length)
  return Math.max(0, ...counts)
}
