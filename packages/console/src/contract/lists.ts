/** The input and output of lists. */

/** A part of a list, newest first. */
export interface Page<Item> {
  items: Item[]
  /** The `after` of the next part; `null` on the last one. */
  next: string | null
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
