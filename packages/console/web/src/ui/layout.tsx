/** The frame of a screen: its heading, what can be done on it, and its parts. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Link } from './button.tsx'
import { Icon } from './icon.tsx'

export function Screen({
  title,
  about,
  actions,
  back,
  children,
}: {
  title: ComponentChildren
  about?: ComponentChildren
  actions?: ComponentChildren
  back?: { to: string; label: string }
  children: ComponentChildren
}) {
  useEffect(() => {
    scrollTo(0, 0)
  }, [])
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
            <h1 tabindex={-1}>{title}</h1>
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

/** Views of one thing, each with an address of its own. */
export const Tabs = ({
  label,
  tabs,
}: {
  label: string
  tabs: readonly { to: string; name: string; current: boolean }[]
}) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ to, name, current }) => (
      <Link key={name} to={to} current={current}>
        {name}
      </Link>
    ))}
  </nav>
)
