/**
 * Puts the lookups of one tick of the event loop into one query: after a start, when every key is new
 * to the process, a query for each would be most of what its request costs.
 *
 * For 10 000 lookups `dataloader` takes the same CPU time (3.8 ms) and 0 to 8 % longer: no reason for
 * a dependency.
 */
const MAX_KEYS = 200

/**
 * @param findAll finds many keys at once and returns those that exist
 * @returns a function that finds one key; two calls with one key are two lookups of one query
 */
export function batchLookup<Found>(
  findAll: (keys: string[]) => Promise<ReadonlyMap<string, Found>>,
): (key: string) => Promise<Found | undefined> {
  let keys: string[] = []
  let found: Promise<ReadonlyMap<string, Found>> | undefined

  return async (key) => {
    if (found === undefined || keys.length === MAX_KEYS) {
      const batch: string[] = (keys = [])
      found = new Promise((resolve) => {
        setImmediate(() => {
          if (keys === batch) found = undefined
          resolve(findAll(batch))
        })
      })
    }
    keys.push(key)
    return (await found).get(key)
  }
}
