import { isOutage } from './connection-errors.ts'

export interface Part<Item, Result> {
  items: Item[]
  result: Result
}

export interface FailedPart<Item> {
  items: Item[]
  error: unknown
}

/**
 * Runs a batch. Where Postgres refuses it, its halves are run, and so on, so that only the bad item
 * fails. In an outage nothing more is run: all items that are left fail together. A part whose error
 * `staysWhole` fails as it is.
 */
export async function splitOnError<Item, Result>(
  batch: Item[],
  run: (items: Item[]) => Promise<Result>,
  staysWhole: (error: unknown) => boolean = () => false,
): Promise<{ parts: Part<Item, Result>[]; failed: FailedPart<Item>[] }> {
  const parts: Part<Item, Result>[] = []
  const failed: FailedPart<Item>[] = []
  const waiting = [batch]
  for (let items = waiting.shift(); items; items = waiting.shift()) {
    try {
      parts.push({ items, result: await run(items) })
    } catch (error) {
      if (isOutage(error)) {
        failed.push({ items: [...items, ...waiting.flat()], error })
        break
      }
      const middle = items.length >> 1
      if (middle === 0 || staysWhole(error)) failed.push({ items, error })
      else waiting.unshift(items.slice(0, middle), items.slice(middle))
    }
  }
  return { parts, failed }
}
