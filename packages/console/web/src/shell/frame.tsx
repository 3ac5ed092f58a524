/** The page around a screen: skip link, rail, top bar, and where the focus goes on a new screen. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Session, SignedIn } from '../server/contract.ts'
import { go, href, usePlace } from '../state/router.ts'
import { ButtonLink, IconButton, Link } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Facts } from '../ui/facts.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Empty } from '../ui/notes.tsx'
import { Brand } from './brand.tsx'
import { Jump } from './jump.tsx'
import { Drawer, Rail } from './rail.tsx'
import { isOpen, openScreens, screenAt } from './screens.tsx'
import { useSession } from './session.ts'
import { UsedLinkOfSession } from './used-link.tsx'

type Shown = 'jump' | 'menu' | 'help' | null

export function Frame({ onSession }: { onSession: (session: Session) => void }) {
  const { session } = useSession()
  const { path } = usePlace()
  const [shown, setShown] = useState<Shown>(null)
  const close = () => setShown(null)
  useShortcuts(session, setShown)
  useArrival(path)
  useHeight(session.embed)
  if (session.embed) {
    return (
      <main id="screen" class="alone" tabindex={-1}>
        <UsedLinkOfSession />
        <CurrentScreen path={path} />
      </main>
    )
  }
  const rail = { session, path, onSession, onJump: () => setShown('jump') }
  return (
    <>
      <a class="skip" href="#screen">
        Skip to the content
      </a>
      <div class="top-bar">
        <Link to={href('')} class="brand">
          <Brand theme={session.theme} />
        </Link>
        <IconButton icon="search" label="Search and go to" onClick={() => setShown('jump')} />
        <IconButton icon="more" label="Menu" onClick={() => setShown('menu')} />
      </div>
      <div class="frame">
        <Rail {...rail} />
        <main id="screen" tabindex={-1}>
          <UsedLinkOfSession />
          <CurrentScreen path={path} />
        </main>
      </div>
      {shown === 'menu' && <Drawer {...rail} onClose={close} />}
      {shown === 'jump' && <Jump onClose={close} />}
      {shown === 'help' && <Help onClose={close} />}
    </>
  )
}

function CurrentScreen({ path }: { path: string }) {
  const { session } = useSession()
  const found = screenAt(path)
  if (found && isOpen(found.screen, session)) {
    const { screen, rest } = found
    return rest.length > 0 && screen.one ? <>{screen.one(...rest)}</> : <screen.list />
  }
  const [first] = openScreens(session)
  if (path === '' && first) return <first.list />
  return (
    <Screen key={path} title="There is no such page">
      <Panel>
        <Empty
          title="Nothing is at this address"
          action={
            <ButtonLink to={href(first?.path ?? '')} kind="primary">
              {`Go to ${first?.name ?? 'the start'}`}
            </ButtonLink>
          }
        >
          It may be mistyped, or your session does not reach it.
        </Empty>
      </Panel>
    </Screen>
  )
}

/** After `g`: what goes to a screen. */
const LETTERS: Readonly<Record<string, string>> = {
  o: '',
  w: 'webhooks',
  d: 'deliveries',
  l: 'dead-letters',
  e: 'events',
  i: 'inbound',
  c: 'catalogue',
  u: 'users',
  k: 'keys',
  t: 'tenants',
  a: 'audit',
  h: 'health',
}
const SECOND_KEY_MS = 1500

const Key = ({ keys }: { keys: string }) => (
  <>
    {keys.split(' ').map((key) => (
      <kbd key={key}>{key}</kbd>
    ))}
  </>
)

function Help({ onClose }: { onClose: () => void }) {
  const { session } = useSession()
  const places = openScreens(session).flatMap(({ path, name }) => {
    const letter = Object.keys(LETTERS).find((one) => LETTERS[one] === path)
    return letter ? [[name, <Key keys={`g ${letter}`} />] as [string, ComponentChildren]] : []
  })
  return (
    <Dialog title="Keys" onClose={onClose}>
      <Facts
        rows={[['Search and go to', <Key keys="/" />], ['This help', <Key keys="?" />], ...places]}
      />
    </Dialog>
  )
}

/** Keys that act from everywhere but a field; Ctrl-K and ⌘K from there as well. */
function useShortcuts(session: SignedIn, show: (shown: Shown) => void): void {
  useEffect(() => {
    if (session.embed) return
    let afterG = 0
    const pressed = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, timeStamp, target } = event
      if (document.querySelector('dialog[open]')) return
      const isChord = key === 'k' && (ctrlKey || metaKey)
      const isWriting = target instanceof Element && target.closest('input, textarea, select')
      if (!isChord && (isWriting || ctrlKey || metaKey || altKey)) return
      const path = timeStamp - afterG < SECOND_KEY_MS ? LETTERS[key] : undefined
      afterG = key === 'g' ? timeStamp : 0
      if (path !== undefined && openScreens(session).some((one) => one.path === path))
        go(href(path))
      else if (isChord || key === '/') show('jump')
      else if (key === '?') show('help')
      else return
      event.preventDefault()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [session])
}

/** The page around an embedded one can give its frame the height that it needs. */
function useHeight(isEmbedded: boolean): void {
  useEffect(() => {
    const main = document.querySelector('main')
    if (!isEmbedded || !main) return
    const observer = new ResizeObserver(() =>
      window.parent.postMessage({ svcConsoleHeight: main.offsetHeight }, '*'),
    )
    observer.observe(main)
    return () => observer.disconnect()
  }, [isEmbedded])
}

/** The heading of a new screen gets the focus: a screen reader reads it out. */
function useArrival(path: string): void {
  const first = useRef(true)
  useEffect(() => {
    if (!first.current)
      document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
    first.current = false
  }, [path])
}
