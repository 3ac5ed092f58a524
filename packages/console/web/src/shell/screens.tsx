/**
 * The screens: their paths, who sees them, and their components. One table for rail, jump and
 * routes.
 */
import type { ComponentChildren } from 'preact'
import type { Right, SignedIn } from '../server/contract.ts'
import { AuditScreen } from '../screens/audit.tsx'
import { CatalogueScreen } from '../screens/catalogue.tsx'
import { DeadLettersScreen } from '../screens/dead-letters.tsx'
import { DeliveriesScreen } from '../screens/deliveries.tsx'
import { DeliveryScreen } from '../screens/delivery.tsx'
import { EventScreen } from '../screens/event.tsx'
import { EventsScreen } from '../screens/events.tsx'
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
  path: string
  name: string
  icon: IconName
  group: 'Webhooks' | 'Access' | 'System' | null
  /** Any of them opens it. */
  rights: readonly Right[]
  needs: 'auth' | 'webhooks' | null
  list: () => ComponentChildren
  /** The rest of the path below it. */
  one?: (...rest: string[]) => ComponentChildren
}

export const SCREENS: readonly ScreenEntry[] = [
  {
    path: '',
    name: 'Overview',
    icon: 'overview',
    group: null,
    rights: ['deliveries:read', 'webhooks:read', 'keys:read'],
    needs: null,
    list: () => <OverviewScreen />,
  },
  {
    path: 'webhooks',
    name: 'Webhooks',
    icon: 'webhooks',
    group: 'Webhooks',
    rights: ['webhooks:read'],
    needs: 'webhooks',
    list: () => <WebhooksScreen />,
    one: (id, tab) => <WebhookScreen key={id} id={id ?? ''} tab={tab ?? ''} />,
  },
  {
    path: 'deliveries',
    name: 'Deliveries',
    icon: 'deliveries',
    group: 'Webhooks',
    rights: ['deliveries:read'],
    needs: 'webhooks',
    list: () => <DeliveriesScreen />,
    one: (webhookId, deliveryId) => (
      <DeliveryScreen key={deliveryId} webhookId={webhookId ?? ''} deliveryId={deliveryId ?? ''} />
    ),
  },
  {
    path: 'dead-letters',
    name: 'Dead letters',
    icon: 'dead',
    group: 'Webhooks',
    rights: ['deliveries:read'],
    needs: 'webhooks',
    list: () => <DeadLettersScreen />,
  },
  {
    path: 'events',
    name: 'Events',
    icon: 'events',
    group: 'Webhooks',
    rights: ['events:read'],
    needs: 'webhooks',
    list: () => <EventsScreen />,
    one: (name, id) => <EventScreen key={`${name}/${id}`} name={name ?? ''} id={id ?? ''} />,
  },
  {
    path: 'inbound',
    name: 'Inbound',
    icon: 'inbound',
    group: 'Webhooks',
    rights: ['inbound:read'],
    needs: 'webhooks',
    list: () => <InboundScreen />,
  },
  {
    path: 'catalogue',
    name: 'Catalogue',
    icon: 'catalogue',
    group: 'Webhooks',
    rights: ['webhooks:read'],
    needs: 'webhooks',
    list: () => <CatalogueScreen />,
  },
  {
    path: 'users',
    name: 'Users',
    icon: 'users',
    group: 'Access',
    rights: ['users:read'],
    needs: 'auth',
    list: () => <UsersScreen />,
    one: (id) => <UserScreen key={id} id={id ?? ''} />,
  },
  {
    path: 'keys',
    name: 'API keys',
    icon: 'keys',
    group: 'Access',
    rights: ['keys:read'],
    needs: 'auth',
    list: () => <KeysScreen />,
    one: (id) => <KeyScreen key={id} id={id ?? ''} />,
  },
  {
    path: 'tenants',
    name: 'Tenants',
    icon: 'tenants',
    group: 'Access',
    rights: ['tenants:read'],
    needs: null,
    list: () => <TenantsScreen />,
  },
  {
    path: 'sessions',
    name: 'Sessions',
    icon: 'out',
    group: 'Access',
    rights: ['sessions:read'],
    needs: null,
    list: () => <SessionsScreen />,
  },
  {
    path: 'audit',
    name: 'Audit',
    icon: 'audit',
    group: 'System',
    rights: ['audit:read'],
    needs: null,
    list: () => <AuditScreen />,
  },
  {
    path: 'health',
    name: 'Health',
    icon: 'health',
    group: 'System',
    rights: ['health:read'],
    needs: null,
    list: () => <HealthScreen />,
  },
]

export const isOpen = ({ rights, needs }: ScreenEntry, { can, features }: SignedIn): boolean =>
  rights.some((right) => can.includes(right)) && (needs === null || features[needs])

export const openScreens = (session: SignedIn): ScreenEntry[] =>
  SCREENS.filter((screen) => isOpen(screen, session))

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
  const screen = SCREENS.find((one) => one.path === first)
  return screen && (rest.length === 0 || screen.one) ? { screen, rest } : undefined
}
