/** The page around a screen: skip link, rail, top bar, and where the focus goes on a new screen. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Session } from '../server/contract.ts'
import { href, usePlace } from '../state/router.ts'
import { ButtonLink, IconButton, Link } from '../ui/button.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Empty } from '../ui/notes.tsx'
import { Brand } from './brand.tsx'
import { Jump } from './jump.tsx'
import { Drawer, Rail } from './rail.tsx'
import { isOpen, openScreens, screenAt } from './screens.tsx'
import { useSession } from './session.ts'
import { UsedLinkOfSession } from './used-link.tsx'

type Shown = 'jump' | 'menu' | null

export function Frame({ onSession }: { onSession: (session: Session) => void }) {
  const { session } = useSession()
  const { path } = usePlace()
  const [shown, setShown] = useState<Shown>(null)
  const close = () => setShown(null)
  useShortcuts(() => session.embed || setShown('jump'))
  useArrival(path)
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

/** `/` and Ctrl-K or ⌘K open the search from everywhere but a field. */
function useShortcuts(open: () => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const writing =
        event.target instanceof Element && event.target.closest('input, textarea, select, dialog')
      const chord = event.key === 'k' && (event.ctrlKey || event.metaKey)
      const slash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey
      if (!chord && !(slash && !writing)) return
      if (document.querySelector('dialog[open]')) return
      event.preventDefault()
      open()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
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
