/**
 * The screens: their paths, who sees them, and their components. One table for rail, jump and
 * routes.
 */
import type { ComponentChildren, ComponentType } from 'preact'
import type { Right, SignedIn } from '../server/contract.ts'
import { AuditScreen } from '../screens/audit.tsx'
import { CatalogueScreen } from '../screens/catalogue.tsx'
import { DeadLettersScreen } from '../screens/dead-letters.tsx'
import { DeliveriesScreen } from '../screens/deliveries.tsx'
import { DeliveryScreen } from '../screens/delivery.tsx'
import { EventScreen } from '../screens/event.tsx'
import { EventsScreen } from '../screens/events.tsx'
import { HandlersScreen } from '../screens/handlers.tsx'
import { HealthScreen } from '../screens/health.tsx'
import { InboundScreen } from '../screens/inbound.tsx'
import { KeyScreen } from '../screens/keys/key.tsx'
import { KeysScreen } from '../screens/keys/keys.tsx'
import { OverviewScreen } from '../screens/overview/overview.tsx'
import { SessionsScreen } from '../screens/sessions.tsx'
import { TenantsScreen } from '../screens/tenants.tsx'
import { UserScreen } from '../screens/users/user.tsx'
import { UsersScreen } from '../screens/users/users.tsx'
import { WebhookScreen } from '../screens/webhooks/webhook.tsx'
import { WebhooksScreen } from '../screens/webhooks/webhooks.tsx'
import type { IconName } from '../ui/icon.tsx'

export interface ScreenEntry {
  group: 'Webhooks' | 'Access' | 'System' | null
  path: string
  name: string
  icon: IconName
  /** Any of them opens it. */
  rights: readonly Right[]
  needs: 'auth' | 'webhooks' | null
  /** Only for an operator with `admin`. */
  isForAdmin?: boolean
  list: ComponentType
  /** The rest of the path below it. */
  one?: (...rest: string[]) => ComponentChildren
}

/** Its icon and the right that opens it have the name of its path, where nothing else is said. */
const screen = (
  group: ScreenEntry['group'],
  path: string,
  name: string,
  list: ComponentType,
  more: Partial<ScreenEntry> = {},
): ScreenEntry => ({
  group,
  path,
  name,
  icon: path as IconName,
  rights: [`${path}:read` as Right],
  needs: group === 'Webhooks' ? 'webhooks' : null,
  list,
  ...more,
})

export const SCREENS: readonly ScreenEntry[] = [
  screen(null, '', 'Overview', OverviewScreen, {
    icon: 'overview',
    rights: ['deliveries:read', 'webhooks:read', 'keys:read'],
  }),
  screen('Webhooks', 'webhooks', 'Webhooks', WebhooksScreen, {
    one: (id = '', tab = '') => <WebhookScreen key={id} id={id} tab={tab} />,
  }),
  screen('Webhooks', 'deliveries', 'Deliveries', DeliveriesScreen, {
    one: (webhookId = '', deliveryId = '') => (
      <DeliveryScreen key={deliveryId} webhookId={webhookId} deliveryId={deliveryId} />
    ),
  }),
  screen('Webhooks', 'dead-letters', 'Dead letters', DeadLettersScreen, {
    icon: 'dead',
    rights: ['deliveries:read'],
  }),
  screen('Webhooks', 'events', 'Events', EventsScreen, {
    one: (name = '', id = '') => <EventScreen key={`${name}/${id}`} name={name} id={id} />,
  }),
  screen('Webhooks', 'inbound', 'Inbound', InboundScreen),
  screen('Webhooks', 'catalogue', 'Catalogue', CatalogueScreen, { rights: ['webhooks:read'] }),
  screen('Access', 'users', 'Users', UsersScreen, {
    needs: 'auth',
    one: (id = '') => <UserScreen key={id} id={id} />,
  }),
  screen('Access', 'keys', 'API keys', KeysScreen, {
    needs: 'auth',
    one: (id = '') => <KeyScreen key={id} id={id} />,
  }),
  screen('Access', 'tenants', 'Tenants', TenantsScreen),
  screen('Access', 'sessions', 'Sessions', SessionsScreen, { icon: 'out' }),
  screen('System', 'audit', 'Audit', AuditScreen),
  screen('System', 'health', 'Health', HealthScreen),
  screen('System', 'handlers', 'Handlers', HandlersScreen, {
    rights: ['health:read'],
    needs: 'webhooks',
    isForAdmin: true,
  }),
]

export const isOpen = (
  { rights, needs, isForAdmin = false }: ScreenEntry,
  { can, features, isAdmin }: SignedIn,
): boolean =>
  rights.some((right) => can.includes(right)) &&
  (needs === null || features[needs]) &&
  (isAdmin || !isForAdmin)

export const openScreens = (session: SignedIn): ScreenEntry[] =>
  SCREENS.filter((one) => isOpen(one, session))

/** None where the path is not one that this page has made. */
function partsOf(path: string): string[] {
  try {
    return path.split('/').map(decodeURIComponent)
  } catch {
    return []
  }
}

/** The screen of a path, and the rest of the path. */
export function screenAt(path: string): { screen: ScreenEntry; rest: string[] } | undefined {
  const [first, ...rest] = partsOf(path)
  const found = SCREENS.find((one) => one.path === first)
  return found && (rest.length === 0 || found.one) ? { screen: found, rest } : undefined
}
