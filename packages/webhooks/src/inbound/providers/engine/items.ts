/** The items of a batch. */
import { jsonOf } from '../../parsed-body.ts'
import { pathOf, valueAt, type Reading } from './request-places.ts'

/** The items at the path of a parsed body: those of a list, or a single value as the only item. */
export function itemsAt(path: string): (body: unknown) => readonly unknown[] {
  const names = pathOf(path)
  return (body) => {
    const value = valueAt(body, names)
    if (value === undefined || value === null) return []
    return Array.isArray(value) ? value : [value]
  }
}

export function itemsOf(split: string | undefined, { request, body }: Reading): readonly unknown[] {
  return split === undefined ? [] : itemsAt(split)(jsonOf(request, body))
}
