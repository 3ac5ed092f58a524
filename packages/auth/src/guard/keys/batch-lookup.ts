/**
 * Lookups of the same moment share one query: after a start, when every key is new to the process,
 * a query for each would be most of what its request costs.
 */
interface Waiting<Found> {
  resolve: (found: Found | undefined) => void
  reject: (error: unknown) => void
}

const LARGEST = 200

/**
 * @param findAll answers for many keys at once, those that are there
 * @returns the same for one key; asked twice in a moment, it looks twice
 */
export function batchLookup<Found>(
  findAll: (keys: string[]) => Promise<ReadonlyMap<string, Found>>,
): (key: string) => Promise<Found | undefined> {
  let keys: string[] = []
  let waiting: Waiting<Found>[] = []

  const send = (): void => {
    const [asked, askers] = [keys, waiting]
    keys = []
    waiting = []
    findAll(asked).then(
      (found) => {
        for (const [index, { resolve }] of askers.entries()) resolve(found.get(asked[index] ?? ''))
      },
      (error: unknown) => {
        for (const { reject } of askers) reject(error)
      },
    )
  }

  return (key) => {
    const { promise, resolve, reject } = Promise.withResolvers<Found | undefined>()
    keys.push(key)
    waiting.push({ resolve, reject })
    if (keys.length === LARGEST) send()
    else if (keys.length === 1) setImmediate(() => keys.length > 0 && send())
    return promise
  }
}
