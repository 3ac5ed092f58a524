/** The common part of all metrics. */

/** Bounds of histograms, in seconds: those of the semantic conventions for HTTP and for messaging. */
export const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
/** Bounds of histograms in seconds, up to an hour: for what may wait behind others. */
export const SECONDS_TO_AN_HOUR = [...SECONDS, 30, 60, 300, 900, 3600]

/** `messaging.system` of the semantic conventions. */
export const SYSTEM = 'svc'

/** A class of errors, of few: the code of an error, else the name of its class. */
export function errorTypeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  if (typeof code === 'string' && code !== '') return code
  return typeof name === 'string' && name !== '' ? name : OTHER
}

/** What the semantic conventions call a value beyond those that are known. */
const OTHER = '_OTHER'
const MOST_VALUES = 200

/**
 * Values of one label of metrics. Names that a host chooses (events, sources) are few. Names that
 * are made from what others send can be many: the first ones count under their name, the rest
 * together.
 */
export class LabelValues {
  #known = new Set<string>()

  of(value: string): string {
    if (this.#known.has(value)) return value
    if (this.#known.size >= MOST_VALUES) return OTHER
    this.#known.add(value)
    return value
  }
}
