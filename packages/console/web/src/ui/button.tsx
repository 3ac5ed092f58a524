import type { ComponentChildren } from 'preact'
import { go } from '../state/router.ts'
import { Icon, type IconName } from './icon.tsx'

interface ButtonProps {
  children: ComponentChildren
  kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  icon?: IconName
  busy?: boolean
  disabled?: boolean
  /** Whether the part that this button shows and hides is shown. */
  expanded?: boolean
  type?: 'button' | 'submit'
  onClick?: () => void
}

export const Button = ({
  children,
  kind = 'plain',
  icon,
  busy = false,
  disabled = false,
  expanded,
  type = 'button',
  onClick,
}: ButtonProps) => (
  <button
    type={type}
    class={`button ${kind}`}
    disabled={disabled}
    aria-busy={busy}
    // The focus stays on it, which "disabled" would take away.
    aria-disabled={busy || undefined}
    aria-expanded={expanded}
    onClick={() => busy || onClick?.()}
  >
    {icon && <Icon name={icon} />}
    <span>{children}</span>
  </button>
)

/** A button that shows only an icon; `label` describes what it does. */
export const IconButton = ({
  icon,
  label,
  onClick,
}: {
  icon: IconName
  label: string
  onClick: () => void
}) => (
  <button
    type="button"
    class="button quiet round"
    aria-label={label}
    title={label}
    onClick={onClick}
  >
    <Icon name={icon} />
  </button>
)

interface LinkProps {
  to: string
  children: ComponentChildren
  class?: string
  current?: boolean
  label?: string | undefined
  onGo?: () => void
}

/** A link within the page. With a modifier key, the browser does what it does with any link. */
export const Link = ({ to, children, class: name, current, label, onGo }: LinkProps) => (
  <a
    href={to}
    class={name}
    aria-current={current ? 'page' : undefined}
    aria-label={label}
    onClick={(event) => {
      if (event.defaultPrevented || event.button !== 0) return
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
      event.preventDefault()
      go(to)
      onGo?.()
    }}
  >
    {children}
  </a>
)

export const ButtonLink = ({
  to,
  children,
  kind = 'plain',
  icon,
}: {
  to: string
  children: ComponentChildren
  kind?: 'primary' | 'plain' | 'quiet'
  icon?: IconName
}) => (
  <Link to={to} class={`button ${kind}`}>
    {icon && <Icon name={icon} />}
    <span>{children}</span>
  </Link>
)
