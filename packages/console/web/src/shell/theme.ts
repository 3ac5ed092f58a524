/** The host's name and accent colour, put on the page. */
import type { Theme } from '../server/contract.ts'
import { accentFor } from '../text/colours.ts'

const dark = matchMedia('(prefers-color-scheme: dark)')

let current: Theme | undefined

export function applyTheme(theme: Theme): void {
  if (!current) dark.addEventListener('change', paint)
  current = theme
  document.title = nameOf(theme)
  paint()
}

export const nameOf = (theme: Theme): string => theme.name ?? 'Console'

function paint(): void {
  const colours = current?.accent && accentFor(current.accent, dark.matches ? 'dark' : 'light')
  if (!colours) return
  const { style } = document.documentElement
  style.setProperty('--accent', colours.accent)
  style.setProperty('--on-accent', colours.onAccent)
  style.setProperty('--accent-soft', colours.soft)
}
