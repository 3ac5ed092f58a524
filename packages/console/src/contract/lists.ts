/** The input and output of lists. */

/** A part of a list, newest first. */
export interface Page<Item> {
  items: Item[]
  /** The `after` of the next part; `null` on the last one. */
  next: string | null
}

/** With `atLeast` it stopped at 10000, or it took too long. */
export interface Count {
  count: number
  atLeast?: true
}

/** `limit`: 1 to 200, 50 by default. */
export interface Paging {
  limit?: number
  after?: string
}

/** A filter of the operator's lists: the entries of one tenant; `''`: those without a tenant. */
export interface OfTenant {
  tenant?: string
}

/** ISO 8601 with an offset; `since` is included, `until` is not. */
export interface Span {
  since?: string
  until?: string
}
