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

const HOUR_MS = 3_600_000
/** Steps of a clock, in hours and in minutes. */
const CLOCK = [...[1, 5, 10, 15, 30].map((minutes) => minutes / 60), 1, 2, 3, 6, 12]

/** Indexes of the labels of times that follow each other: of hours and minutes those of a clock, 0, 6, 12, 18. */
export function ticks(at: readonly string[], wanted: number): number[] {
  const stepMs = Date.parse(at[1] ?? '') - Date.parse(at[0] ?? '')
  if (!(stepMs <= HOUR_MS)) return labelled(at.length, wanted)
  const everyHours = CLOCK.find((hours) => (at.length * stepMs) / (hours * HOUR_MS) <= wanted) ?? 24
  const isOn = (time: string): boolean => {
    const date = new Date(time)
    const minutes = date.getHours() * 60 + date.getMinutes()
    return minutes % Math.round(everyHours * 60) === 0
  }
  return at.flatMap((time, index) => (isOn(time) ? [index] : []))
}
