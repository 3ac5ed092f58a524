/** The frame of a screen: its heading, what can be done on it, and its parts. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useSession } from '../shell/session.ts'
import { nameOf } from '../shell/theme.ts'
import { currentPlace, href, restoredScroll } from '../state/router.ts'
import { Link } from './button.tsx'
import { Icon } from './icon.tsx'

export function Screen({
  title,
  about,
  actions,
  back: given,
  view = '',
  children,
}: {
  title: ComponentChildren
  about?: ComponentChildren
  actions?: ComponentChildren
  back?: { to: string; label: string }
  /** Which of several views of it is shown, for the title of the window. */
  view?: string
  children: ComponentChildren
}) {
  const { theme, embed } = useSession().session
  const { path } = currentPlace()
  // Where the page has no navigation of its own, its lists are reached from the overview.
  const back = given ?? (embed && path !== '' ? { to: href(''), label: 'Overview' } : undefined)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => scrollTo(0, restoredScroll()), [])
  useEffect(() => {
    const parts = [heading.current?.textContent, view, nameOf(theme)]
    document.title = parts.filter(Boolean).join(' · ')
  })
  return (
    <>
      <header class="screen-head">
        {back && (
          <Link to={back.to} class="back">
            <Icon name="back" /> {back.label}
          </Link>
        )}
        <div class="title-row">
          <div class="title">
            <h1 ref={heading} tabindex={-1}>
              {title}
            </h1>
            {about && <div class="about">{about}</div>}
          </div>
          {actions && <div class="actions">{actions}</div>}
        </div>
      </header>
      {children}
    </>
  )
}

export const Panel = ({
  title,
  actions,
  flush = false,
  children,
}: {
  title?: ComponentChildren
  actions?: ComponentChildren
  /** Its content reaches its edges: a table. */
  flush?: boolean
  children: ComponentChildren
}) => (
  <section class={flush ? 'panel flush' : 'panel'}>
    {title && (
      <header>
        <h2>{title}</h2>
        {actions}
      </header>
    )}
    {children}
  </section>
)

/** For a line of links that is longer than a narrow page: the one that is shown would be out of sight. */
export function useCurrentInSight(shown: string | undefined) {
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    const link = nav.current?.querySelector<HTMLElement>('[aria-current]')
    if (nav.current && link) nav.current.scrollLeft = link.offsetLeft - nav.current.offsetLeft
  }, [shown])
  return nav
}

/** Views of one thing, each with an address of its own. */
export const Tabs = ({
  label,
  tabs,
}: {
  label: string
  tabs: readonly { to: string; name: string; current: boolean }[]
}) => {
  const nav = useCurrentInSight(tabs.find(({ current }) => current)?.to)
  return (
    <nav class="tabs" aria-label={label} ref={nav}>
      {tabs.map(({ to, name, current }) => (
        <Link key={name} to={to} current={current}>
          {name}
        </Link>
      ))}
    </nav>
  )
}
