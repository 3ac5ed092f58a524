/** Addresses of the page: a path below the console's own, and filters in the query. */
import { useEffect, useState } from 'preact/hooks'
import { basePath } from '../server/call.ts'

export interface Place {
  /** Below the console's path, without slashes at its ends: `webhooks/0198…`. */
  path: string
  query: URLSearchParams
}

const changed = new Set<() => void>()
/** The addresses that were left, and how far each was scrolled then: the latest is the last. */
const left = new Map<string, number>()
export const address = (): string => location.pathname + location.search
let shown = address()
let isReturn = false
let question: (() => string | undefined) | undefined

history.scrollRestoration = 'manual'
addEventListener('popstate', () => arrive(true))

function arrive(returned: boolean): void {
  isReturn = returned
  const scroll = returned ? (left.get(shown) ?? 0) : scrollY
  left.delete(shown)
  left.set(shown, scroll)
  shown = address()
}

/** Where "back" and "forward" lead to what was shown before: as far down as it was. */
export const restoredScroll = (): number => (isReturn ? (left.get(shown) ?? 0) : 0)

/** The list that the reader was at last, with its filters: that of `path`, or one whose path is `like` this. */
export const cameFrom = (path: string, like = new RegExp(`^${path}$`)): string =>
  [...left.keys()].findLast((one) => like.test(pathOf(one))) ?? href(path)

/** Another person begins anew. */
export const forgetPlaces = (): void => left.clear()

/** Below the console's own path. */
export const pathOf = (to: string): string => (to.split('?')[0] ?? '').slice(basePath.length)

/** A browser shows no question of a frame of another site, and answers it with no. */
export const mayAsk = window.parent === window

/** While `text` gives one, a link asks it before the screen is left. */
export function askBeforeLeaving(text: () => string | undefined): () => void {
  if (!mayAsk) return () => {}
  const unload = (event: BeforeUnloadEvent) => {
    if (text() !== undefined) event.preventDefault()
  }
  question = text
  addEventListener('beforeunload', unload)
  return () => {
    question = undefined
    removeEventListener('beforeunload', unload)
  }
}

export const href = (path: string, query?: Record<string, string | undefined>): string => {
  const wanted = Object.entries(query ?? {}).filter(
    ([, value]) => value !== undefined && value !== '',
  )
  const text = new URLSearchParams(wanted as [string, string][]).toString()
  return basePath + path + (text && `?${text}`)
}

export function currentPlace(): Place {
  const { pathname, search } = location
  const below = pathname.startsWith(basePath) ? pathname.slice(basePath.length) : ''
  return { path: below.replace(/^\/+|\/+$/g, ''), query: new URLSearchParams(search) }
}

/** Goes to an address of {@link href}. */
export function go(to: string, { replace = false } = {}): void {
  if (to === address()) return
  const asked = replace ? undefined : question?.()
  if (asked !== undefined && !confirm(asked)) return
  history[replace ? 'replaceState' : 'pushState'](null, '', to)
  if (replace) shown = to
  else arrive(false)
  for (const listener of changed) listener()
}

export function usePlace(): Place {
  const [place, setPlace] = useState(currentPlace)
  useEffect(() => {
    const update = () => setPlace(currentPlace())
    changed.add(update)
    addEventListener('popstate', update)
    update()
    return () => {
      changed.delete(update)
      removeEventListener('popstate', update)
    }
  }, [])
  return place
}

/** The filters in the address; setting one replaces the address, so that "back" leaves the screen. */
export function useFilters<Name extends string>(names: readonly Name[]) {
  const { path, query } = usePlace()
  const values = Object.fromEntries(names.map((name) => [name, query.get(name) ?? ''])) as Record<
    Name,
    string
  >
  const set = (change: Partial<Record<Name, string>>) => {
    const next = new URLSearchParams(currentPlace().query)
    for (const [name, value] of Object.entries(change) as [string, string][]) {
      if (value) next.set(name, value)
      else next.delete(name)
    }
    go(href(path, Object.fromEntries(next)), { replace: true })
  }
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
  return {
    values,
    set,
    clear: () => set(Object.fromEntries(names.map((name) => [name, ''])) as typeof values),
    given: given as Partial<Record<Name, string>>,
    any: Object.keys(given).length > 0,
  }
}
