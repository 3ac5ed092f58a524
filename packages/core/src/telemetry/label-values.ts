/**
 * Values of one label of metrics. Names that a host chooses (events, sources) are few. Names that
 * are made from what others send can be many: the first ones count under their name, the rest
 * together.
 */
const MOST = 200
/** What the semantic conventions call a value beyond those that are known. */
export const OTHER = '_OTHER'

export class LabelValues {
  #known = new Set<string>()

  of(value: string): string {
    if (this.#known.has(value)) return value
    if (this.#known.size >= MOST) return OTHER
    this.#known.add(value)
    return value
  }
}
