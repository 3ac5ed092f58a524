/** The paths of a filter: the fields of `{ event, tenant, payload, changed }` and below. */
import { InvalidFilter } from '../../errors.ts'
import { isObject } from './filter-limits.ts'
import type { WorkBound } from './work-bound.ts'

export interface Subject {
  event: string
  tenant: string | null
  /** Parsed JSON. */
  payload: unknown
  /** The paths of what has changed; absent where the publisher did not say what was before. */
  changed?: string[]
}

const ROOTS = ['event', 'tenant', 'payload', 'changed']

/** `changed`: a list, or its JSON text, as it is stored. */
export const subjectOf = (
  event: string,
  tenant: string | null,
  payload: unknown,
  changed: string[] | string | null | undefined,
): Subject => ({
  event,
  tenant,
  payload,
  ...(changed && {
    changed: typeof changed === 'string' ? (JSON.parse(changed) as string[]) : changed,
  }),
})

/** `a.b` is the field `b` of the field `a`. @throws InvalidFilter */
export function splitPath(name: string, parent: readonly string[], spot: string): string[] {
  const segments = name.split('.')
  if (segments.some((segment) => segment === '' || segment === '__proto__')) {
    throw new InvalidFilter(`${spot} is not a path such as payload.order.total`)
  }
  const path = [...parent, ...segments]
  if (!ROOTS.includes(path[0]!)) {
    throw new InvalidFilter(`${spot} must begin with ${ROOTS.join(', ')}`)
  }
  return path
}

/**
 * The values at a path: several where it leads through lists, `undefined` where an object lacks the
 * field, none where it leads nowhere. Only own fields are read.
 *
 * @throws TooMuchWork
 */
export function valuesAt(subject: Subject, path: readonly string[], work: WorkBound): unknown[] {
  const found: unknown[] = []
  collect(subject, path, 0, found, work)
  return found
}

function collect(
  value: unknown,
  path: readonly string[],
  depth: number,
  found: unknown[],
  work: WorkBound,
): void {
  const name = path[depth]
  work.step()
  if (name === undefined) {
    found.push(value)
  } else if (isObject(value)) {
    if (Object.hasOwn(value, name)) collect(value[name], path, depth + 1, found, work)
    else found.push(undefined)
  } else if (Array.isArray(value)) {
    if (isIndex(name) && Number(name) < value.length) {
      collect(value[Number(name)], path, depth + 1, found, work)
    }
    // The elements of a list count, and not those of lists in it, as in MongoDB.
    for (const element of value) {
      work.step()
      if (isObject(element)) collect(element, path, depth, found, work)
    }
  }
}

const isIndex = (name: string): boolean => /^(?:0|[1-9]\d{0,8})$/.test(name)
