/** Go to a screen or a thing by its name, or to whatever an id that was pasted names. */
import { useEffect, useId, useState } from 'preact/hooks'
import type { Features, Right, SignedIn } from '../server/contract.ts'
import { searchOf, webhookName } from '../state/names.ts'
import { useCall } from '../state/queries.ts'
import { go, href } from '../state/router.ts'
import { isUuid } from '../text/format.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { openScreens } from './screens.tsx'
import { useSession } from './session.ts'

interface JumpTarget {
  name: string
  icon: IconName
  to: string
}

export function Jump({ onClose }: { onClose: () => void }) {
  const { session } = useSession()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const paths = openScreens(session)
  const open = new Set(paths.map(({ path }) => path))
  const wanted = text.trim()
  const named = useNamed(wanted, session)
  const targets: JumpTarget[] = [
    ...paths
      .filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()))
      .map(({ name, icon, path }) => ({ name, icon, to: href(path) })),
    ...named.filter(({ screen }) => open.has(screen)),
    ...targetsById(wanted, session).filter(({ screen }) => open.has(screen)),
  ]
  const follow = (target: JumpTarget | undefined) => {
    if (!target) return
    onClose()
    go(target.to)
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <div class="jump">
        <input
          type="text"
          role="combobox"
          aria-label="A screen, a name, or an id of an event, a delivery, a webhook or a key"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={targets.length > 0 ? `${id}-${chosen}` : undefined}
          placeholder="A screen, a name, or an id that you paste"
          autocomplete="off"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            setChosen(0)
          }}
          onKeyDown={(event) => {
            const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
            if (move && targets.length > 0)
              setChosen((chosen + move + targets.length) % targets.length)
            else if (event.key === 'Enter') follow(targets[chosen])
            else return
            event.preventDefault()
          }}
        />
        <ul role="listbox" id={id} aria-label="Results">
          {targets.map((target, index) => (
            <li
              key={target.to}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === chosen}
              ref={(element) => {
                if (index === chosen) element?.scrollIntoView({ block: 'nearest' })
              }}
              onClick={() => follow(target)}
              onPointerMove={() => setChosen(index)}
            >
              <Icon name={target.icon} /> <bdi>{target.name}</bdi>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  )
}

const PAUSE_MS = 250
const MOST_NAMED = 5

/** Webhooks, keys, users and tenants whose names have words that begin so. */
function useNamed(text: string, { can, features }: SignedIn): (JumpTarget & { screen: string })[] {
  const [paused, setPaused] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  const search = LIKE_A_SECRET.test(paused) || isUuid(paused) ? undefined : searchOf(paused)
  const inputOf = (right: Right, needs?: keyof Features) =>
    search && can.includes(right) && (!needs || features[needs])
      ? { search, limit: MOST_NAMED }
      : null
  const webhooks = useCall('webhooks.list', inputOf('webhooks:read', 'webhooks'))
  const keys = useCall('keys.list', inputOf('keys:read', 'auth'))
  const users = useCall('users.list', inputOf('users:read', 'auth'))
  const tenants = useCall('tenants.list', inputOf('tenants:read'))
  const target = (screen: IconName, what: string, name: string, path: string) => ({
    screen,
    icon: screen,
    name: `${what} ${name}`,
    to: path,
  })
  return [
    ...(tenants.data?.items ?? []).map(({ tenant }) =>
      target('tenants', 'Tenant', tenant, href('tenants', { tenant })),
    ),
    ...(webhooks.data?.items ?? []).map((one) =>
      target('webhooks', 'Webhook', webhookName(one), href(`webhooks/${one.id}`)),
    ),
    ...(users.data?.items ?? []).map(({ id, name, email }) =>
      target('users', 'User', email ? `${name}, ${email}` : name, href(`users/${id}`)),
    ),
    ...(keys.data?.items ?? []).map(({ id, label, keyPrefix }) =>
      target('keys', 'Key', label ?? `${keyPrefix}…`, href(`keys/${id}`)),
    ),
  ]
}

/** Letters, and then what no person has thought of. */
const LIKE_A_SECRET = /^[a-z0-9-]{2,20}_[A-Za-z0-9+/=_-]{24,}$/i

/** What a text may be the id of. */
function targetsById(
  text: string,
  { searchesPayloads }: SignedIn,
): (JumpTarget & { screen: string })[] {
  if (text.length < 3) return []
  const prefix = text.slice(0, 8)
  const keys = {
    screen: 'keys',
    icon: 'keys' as const,
    name: `Keys that begin with ${prefix}`,
    to: href('keys', { prefix }),
  }
  // It may be a key, which belongs neither into an address nor into the history.
  if (LIKE_A_SECRET.test(text)) return [keys]
  const event = { screen: 'events', icon: 'events' as const }
  const byId = { ...event, name: `Events with the id ${text}`, to: href('events', { id: text }) }
  const byText = {
    ...event,
    name: `Events whose payload holds ${text}`,
    to: href('events', { text }),
  }
  const found = searchesPayloads ? [byId, byText] : [byId]
  if (!isUuid(text)) return [...found, keys]
  const delivery = { screen: 'deliveries', icon: 'deliveries' as const }
  return [
    { ...delivery, name: `Delivery ${text}`, to: href('deliveries', { deliveryId: text }) },
    { screen: 'webhooks', icon: 'webhooks', name: `Webhook ${text}`, to: href(`webhooks/${text}`) },
    { screen: 'keys', icon: 'keys', name: `API key ${text}`, to: href(`keys/${text}`) },
    { screen: 'users', icon: 'users', name: `User ${text}`, to: href(`users/${text}`) },
    ...found,
  ]
}
