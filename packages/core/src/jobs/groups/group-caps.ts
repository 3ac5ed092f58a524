/** How many attempts of one group a lane may have in flight, by the answers of the group so far. */
export interface Caps {
  window: number
  quick: number
  slow: number
  silent: number
  unknown: number
}

export function capsOf(window: number): Caps {
  return {
    window,
    quick: Math.max(1, Math.floor((window * 3) / 4)),
    slow: Math.max(1, Math.floor(window / 4)),
    silent: Math.max(1, Math.floor(window / 8)),
    // A hundred receivers that hang from the start do not fill a window of 192.
    unknown: Math.max(1, Math.floor(window / 48)),
  }
}

/**
 * How many slots of a quick group must be free before it is fetched again: few large fetches cost
 * less.
 */
export const halfOf = (cap: number): number => Math.max(1, Math.floor(cap / 2))
