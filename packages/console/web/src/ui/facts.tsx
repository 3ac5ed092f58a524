/** Single values: a time, an id, a state, a list of names and values. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ago, exact, shortId } from '../text/format.ts'
import { Button, IconButton, Link } from './button.tsx'
import { say } from './toasts.tsx'

const ticking = new Set<() => void>()
setInterval(() => document.hidden || ticking.forEach((tick) => tick()), 10_000)

/** How long ago; the exact time is its title. */
export function Time({ at, none = 'never' }: { at: string | null | undefined; none?: string }) {
  const [, setRound] = useState(0)
  useEffect(() => {
    const tick = () => setRound((before) => before + 1)
    ticking.add(tick)
    return () => void ticking.delete(tick)
  }, [])
  if (!at) return <span class="faint">{none}</span>
  return (
    <time datetime={at} title={exact(at)}>
      {ago(at)}
    </time>
  )
}

/** `fine`: to the millisecond. */
export const ExactTime = ({ at, fine = false }: { at: string; fine?: boolean }) => (
  <time datetime={at} class="nowrap" title={exact(at)}>
    {fine ? exact(at) : exact(at).slice(0, -4)}
  </time>
)

/**
 * Where the browser does not allow it, on plain HTTP or in a frame without `clipboard-write`, the whole
 * text is shown, selected, to be copied by hand.
 */
export function Copy({
  text,
  what,
  children,
}: {
  text: string
  what: string
  /** What the button says. @default an icon */
  children?: string
}) {
  const [state, setState] = useState<'idle' | 'done' | 'refused'>('idle')
  const byHand = useRef<HTMLInputElement>(null)
  useEffect(() => byHand.current?.select(), [state])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      setState('refused')
      say(`The browser does not allow to copy here: press Ctrl-C or ⌘C`)
      return
    }
    setState('done')
    say(`Copied ${what}`)
    setTimeout(() => setState('idle'), 1500)
  }
  if (state === 'refused') {
    return <input ref={byHand} class="by-hand mono" aria-label={what} value={text} readOnly />
  }
  if (children) {
    return (
      <Button icon={state === 'done' ? 'check' : 'copy'} onClick={() => void copy()}>
        {children}
      </Button>
    )
  }
  return (
    <IconButton
      icon={state === 'done' ? 'check' : 'copy'}
      label={`Copy ${what}`}
      onClick={() => void copy()}
    />
  )
}

/** The end of an id. A button copies the whole id; with `to` it is a link. */
export const Id = ({
  id,
  what,
  to,
  whole,
}: {
  id: string
  what: string
  to?: string
  whole?: boolean
}) => (
  <span class="id">
    {to ? (
      <Link to={to} class="mono">
        <span class="unseen">{`${what} `}</span>
        <bdi title={id}>{whole ? id : shortId(id)}</bdi>
      </Link>
    ) : (
      <bdi class="mono" title={id}>
        {whole ? id : shortId(id)}
      </bdi>
    )}
    <Copy text={id} what={what} />
  </span>
)

export type Tone = 'ok' | 'warn' | 'bad' | 'idle' | 'busy'

/** A state, with an icon for each tone, so that it does not depend on the colour. */
export const Badge = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>
    <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
      <path d={SIGNS[tone]} />
    </svg>
    {children}
  </span>
)

const SIGNS: Record<Tone, string> = {
  ok: 'M5 .5a4.5 4.5 0 100 9 4.5 4.5 0 000-9z',
  warn: 'M5 .5L9.8 9H.2z',
  bad: 'M1 1h8v8H1z',
  idle: 'M1 4h8v2H1z',
  busy: 'M5 .5L9.5 5 5 9.5 .5 5z',
}

const isThere = (value: ComponentChildren): boolean =>
  value !== null && value !== undefined && value !== '' && value !== false

/** What has no value is left out. */
export const Facts = ({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="facts">
    {rows.map(
      ([name, value]) =>
        isThere(value) && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
)

/** Text of the outside world: its direction stays its own, and it is cut where it would be too long. */
export const Outside = ({ text, most = 300 }: { text: string; most?: number }) => (
  <bdi class="outside" title={text.length > most ? text.slice(0, 2000) : undefined}>
    {text.length > most ? `${text.slice(0, most)}…` : text}
  </bdi>
)

export const Tags = ({ of, most = 50 }: { of: readonly string[]; most?: number }) => (
  <span class="tags">
    {of.slice(0, most).map((one) => (
      <bdi class="tag" key={one}>
        {one === '*' ? 'all events' : one}
      </bdi>
    ))}
    {of.length > most && (
      <span class="tag more" title={of.slice(most).join(', ')}>{`+${of.length - most}`}</span>
    )}
  </span>
)
