/** The positions of values in a chart. */

/** A round number at or above the greatest value, for the top of an axis. */
export function roundUp(value: number): number {
  if (value <= 4) return 4
  const magnitude = 10 ** Math.floor(Math.log10(value))
  // Half of it stands on the axis too, and half a delivery is none.
  const step =
    (magnitude === 1 ? [6, 8, 10] : [1, 2, 4, 5, 8, 10]).find(
      (factor) => factor * magnitude >= value,
    ) ?? 10
  return step * magnitude
}

/** Indexes of about `wanted` labels that do not crowd each other. */
export function labelled(points: number, wanted: number): number[] {
  const every = Math.max(1, Math.ceil(points / wanted))
  return Array.from({ length: Math.ceil(points / every) }, (_, index) => index * every)
}
