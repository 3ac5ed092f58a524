/** Which events a list of names means: `*` stands for all of the host, and `order.*` for all whose names begin with `order.`. */
import { isReservedName } from './own-events.ts'

export const EVERY_EVENT = '*'

const PATTERN = /^[A-Za-z0-9_.\-/]+\.\*$/

/** Whether a text means events by what their names begin with. The events of ours are asked for by name. */
export const isEventPattern = (text: string): boolean =>
  text === EVERY_EVENT || (PATTERN.test(text) && !isReservedName(text))

/**
 * What means an event of this name in a list: the name, `*`, and a pattern for each dot in it. So it does for a
 * pattern. "__svc.names_that_mean" is the same rule.
 */
export function namesThatMean(name: string): string[] {
  if (isReservedName(name)) return [name]
  const dots = [...name.matchAll(/\./g)].map(({ index }) => `${name.slice(0, index)}.*`)
  return [...new Set([name, EVERY_EVENT, ...dots])]
}

/** Whether an event of this name is among those that a list means. */
export const isMeantBy = (events: ReadonlySet<string>, name: string): boolean =>
  namesThatMean(name).some((one) => events.has(one))

/** The texts of a list, each once, save those whose events another one means too. */
export function withoutCovered(events: readonly string[]): string[] {
  const given = new Set(events)
  return [...given].filter(
    (text) => !namesThatMean(text).some((one) => one !== text && given.has(one)),
  )
}
