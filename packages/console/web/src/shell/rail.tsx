/** The ways to all screens: beside the page, or in a drawer on a narrow one. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Session, SignedIn } from '../server/contract.ts'
import { request } from '../server/call.ts'
import { watchStream } from '../server/live.ts'
import { href } from '../state/router.ts'
import { useCall } from '../state/queries.ts'
import { clock, shortId } from '../text/format.ts'
import { Button, Link } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Segments } from '../ui/segments.tsx'
import { Brand } from './brand.tsx'
import { openScreens, type ScreenEntry } from './screens.tsx'
import { chooseScheme, chosenScheme, type Scheme } from './theme.ts'

interface RailProps {
  session: SignedIn
  path: string
  onJump: () => void
  onSession: (session: Session) => void
  onGo?: () => void
}

export function Rail({ session, path, onJump, onSession, onGo }: RailProps) {
  const screens = openScreens(session)
  const groups = Map.groupBy(screens, ({ group }) => group)
  return (
    <div class="rail">
      <Link to={href('')} class="brand" {...(onGo && { onGo })}>
        <Brand theme={session.theme} />
      </Link>
      <button type="button" class="jump-open" onClick={onJump}>
        <Icon name="search" /> Go to… <kbd>/</kbd>
      </button>
      <nav aria-label="Screens">
        {[...groups].map(([group, of]) => (
          <div key={group}>
            {group && <h2>{group}</h2>}
            <ul>
              {of.map((screen) => (
                <li key={screen.path}>
                  <Link to={href(screen.path)} current={isAt(screen, path)} {...(onGo && { onGo })}>
                    <Icon name={screen.icon} /> {screen.name}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <RailFoot session={session} onSession={onSession} />
    </div>
  )
}

const isAt = (screen: ScreenEntry, path: string): boolean => path.split('/')[0] === screen.path

function RailFoot({ session, onSession }: Pick<RailProps, 'session' | 'onSession'>) {
  const [live, setLive] = useState(false)
  const [asOf, setAsOf] = useState(Date.now)
  useEffect(
    () =>
      watchStream((now) => {
        setLive(now)
        if (!now) setAsOf(Date.now())
      }),
    [],
  )
  const [scheme, setScheme] = useState(
    session.colorScheme === 'auto' ? chosenScheme() : session.colorScheme,
  )
  const choose = (chosen: Scheme) => {
    chooseScheme(chosen)
    setScheme(chosen)
  }
  const end = async () => onSession(await request<Session>('POST', 'api/session/end', {}))
  return (
    <div class="rail-foot">
      <span class={live ? 'live on' : 'live'} role="status">
        <i /> {live ? 'Live' : `Not live: reconnecting. As of ${clock(new Date(asOf))}`}
      </span>
      <span class="who">
        <Who session={session} />
      </span>
      <Segments label="Colours" names={SCHEMES} chosen={scheme} onChosen={choose} />
      {session.via !== 'host' && (
        <Button kind="quiet" icon="out" onClick={() => void end()}>
          Sign out
        </Button>
      )}
    </div>
  )
}

const SCHEMES: Record<Scheme, string> = { auto: 'Auto', light: 'Light', dark: 'Dark' }

function Who({
  session: { tenant, operator, userId, via, can, features },
}: Pick<RailProps, 'session'>) {
  // An id of the host's own login is no user of ours.
  const isUser = userId !== null && via === 'key' && features.auth && can.includes('users:read')
  const { data } = useCall('users.get', isUser ? { id: userId } : null)
  if (tenant !== null) return <bdi>{tenant}</bdi>
  if (userId !== null) {
    return (
      <>
        Operator, <bdi title={userId}>{data?.name ?? shortId(userId)}</bdi>
      </>
    )
  }
  return <>{operator && via === 'key' ? 'Operator, bootstrap key' : 'Operator'}</>
}

export function Drawer({ onClose, ...rail }: RailProps & { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class="drawer"
      aria-label="Menu"
      onClose={onClose}
      onClick={({ target }) => target === dialog.current && onClose()}
    >
      <Rail {...rail} onGo={onClose} />
    </dialog>
  )
}
