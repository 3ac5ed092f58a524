/** The rights of a session, from the scopes of a key or from the option `access`. */

export const RIGHTS = [
  'webhooks:read',
  'webhooks:write',
  'deliveries:read',
  'deliveries:write',
  'events:read',
  'inbound:read',
  'inbound:write',
  'keys:read',
  'keys:write',
  'users:read',
  'users:write',
  'tenants:read',
  'tenants:write',
  'audit:read',
  'health:read',
  'sessions:read',
  'sessions:write',
] as const
export type Right = (typeof RIGHTS)[number]

/** Operations on the whole host, or on all tenants. */
const OF_OPERATORS: readonly Right[] = [
  'tenants:read',
  'tenants:write',
  'health:read',
  'sessions:read',
  'sessions:write',
]

/** The rights that a portal link can give. */
export const TENANT_RIGHTS: readonly Right[] = RIGHTS.filter(
  (right) => !OF_OPERATORS.includes(right),
)

/** The default rights of a portal link. */
export const PORTAL_RIGHTS: readonly Right[] = [
  'webhooks:read',
  'webhooks:write',
  'deliveries:read',
  'deliveries:write',
  'events:read',
]

/** What a person may do, as the host decides. */
export type Can = 'all' | 'read' | readonly string[]

export const isRight = (name: unknown): name is Right => RIGHTS.includes(name as Right)

export const isCan = (can: unknown): can is Can =>
  can === 'all' || can === 'read' || (Array.isArray(can) && can.every(isRight))

/** What ends the sentence "can must be …". */
export const EXPECTED_CAN = `'all', 'read' or an array of ${RIGHTS.join(', ')}`

export function rightsOf(can: Can, tenant: string | null): Right[] {
  if (can === 'all') return within(tenant, RIGHTS)
  if (can === 'read')
    return within(
      tenant,
      RIGHTS.filter((right) => right.endsWith(':read')),
    )
  return within(
    tenant,
    RIGHTS.filter((right) => can.includes(right)),
  )
}

/** Making keys: those that a portal makes are not restricted. */
const MAKING_KEYS: readonly Right[] = ['keys:write', 'users:write']

/**
 * The rights that a link of the portal gets from a maker: at most its own, and no right to make keys
 * from a key that is restricted itself.
 */
export const rightsOfLinksBy = (rights: readonly Right[], isRestricted: boolean): Right[] =>
  rights.includes('tenants:write')
    ? TENANT_RIGHTS.filter(
        (right) => rights.includes(right) && !(isRestricted && MAKING_KEYS.includes(right)),
      )
    : []

/** Scopes of which a key must have one to sign in. */
export const SIGN_IN_SCOPES: readonly string[] = ['auth:manage', 'webhooks:manage']

const MANAGES_KEYS: readonly Right[] = [
  'keys:read',
  'keys:write',
  'users:read',
  'users:write',
  'tenants:read',
  'health:read',
]
const MANAGES_WEBHOOKS: readonly Right[] = [
  'webhooks:read',
  'webhooks:write',
  'deliveries:read',
  'deliveries:write',
  'events:read',
  'inbound:read',
  'inbound:write',
  'tenants:read',
  'health:read',
]

/** The rights of a key: to what its `managementScopes` open. */
export function rightsOfScopes(scopes: readonly string[], tenant: string | null): Right[] {
  if (scopes.includes('admin')) return within(tenant, RIGHTS)
  const rights = new Set<Right>()
  if (scopes.includes('auth:manage')) for (const right of MANAGES_KEYS) rights.add(right)
  if (scopes.includes('webhooks:manage')) for (const right of MANAGES_WEBHOOKS) rights.add(right)
  if (scopes.includes('audit:read')) rights.add('audit:read')
  return within(
    tenant,
    RIGHTS.filter((right) => rights.has(right)),
  )
}

const within = (tenant: string | null, rights: readonly Right[]): Right[] =>
  rights.filter((right) => tenant === null || !OF_OPERATORS.includes(right))
