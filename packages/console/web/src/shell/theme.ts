/** The host's name and accent colour and the scheme, put on the page. */
import type { Session, SignedIn, Theme } from '../server/contract.ts'
import { accentFor } from '../text/colours.ts'

export type Scheme = SignedIn['colorScheme']
const SCHEMES: readonly unknown[] = ['light', 'dark', 'auto']
const KEY = 'svc-console-scheme'

const dark = matchMedia('(prefers-color-scheme: dark)')

let current: Theme | undefined
/** What the link of the session says. */
let given: Scheme = 'auto'

export function applyTheme(session: Session): void {
  if (!current) dark.addEventListener('change', paint)
  current = session.theme
  given = session.signedIn ? session.colorScheme : 'auto'
  document.title = nameOf(session.theme)
  paint()
}

export const nameOf = (theme: Theme): string => theme.name ?? 'Console'

/** What the reader has chosen, in this browser. */
export function chosenScheme(): Scheme {
  // A browser may refuse the storage to a page in an iframe.
  try {
    const kept = localStorage.getItem(KEY)
    return SCHEMES.includes(kept) ? (kept as Scheme) : 'auto'
  } catch {
    return 'auto'
  }
}

export function chooseScheme(scheme: Scheme): void {
  try {
    localStorage.setItem(KEY, scheme)
  } catch {
    // It lasts as long as the page.
  }
  given = scheme
  paint()
}

function paint(): void {
  const root = document.documentElement
  const scheme = given === 'auto' ? chosenScheme() : given
  root.dataset['scheme'] = scheme
  const isDark = scheme === 'auto' ? dark.matches : scheme === 'dark'
  const colours = current?.accent && accentFor(current.accent, isDark ? 'dark' : 'light')
  if (!colours) return
  root.style.setProperty('--accent', colours.accent)
  root.style.setProperty('--on-accent', colours.onAccent)
  root.style.setProperty('--accent-soft', colours.soft)
}
