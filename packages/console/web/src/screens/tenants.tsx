import { useState } from 'preact/hooks'
import type { TenantSummary } from '../server/contract.ts'
import { useSession } from '../shell/session.ts'
import { href } from '../state/router.ts'
import { count } from '../text/format.ts'
import { Button, Link } from '../ui/button.tsx'
import { ListScreen, useList } from '../ui/list-screen.tsx'
import { SEARCH } from '../ui/filters.tsx'
import { Empty } from '../ui/notes.tsx'
import type { Column } from '../ui/table.tsx'
import { PortalLinkDialog } from './portal-link-dialog.tsx'

/** A text that the name follows, and nothing else before it: names are ASCII, and sorted by their bytes. */
const justBefore = (name: string): string =>
  `${name.slice(0, -1)}${String.fromCharCode(name.charCodeAt(name.length - 1) - 1)}~`.slice(0, 64)

const FILTERS = [SEARCH, { name: 'tenant', label: 'Tenant', placeholder: 'All', more: true }]

const columnTo = (
  name: string,
  path: TenantPath,
  textOf: (row: TenantSummary) => string,
): Column<TenantSummary> => ({
  name,
  kind: 'end',
  cell: (row) => <TenantLink path={path} tenant={row.tenant} text={textOf(row)} />,
})

const COLUMNS: readonly Column<TenantSummary>[] = [
  {
    name: 'Tenant',
    kind: 'main',
    bare: true,
    cell: ({ tenant }) => <TenantLink path="webhooks" tenant={tenant} text={tenant} main />,
  },
  columnTo('Webhooks', 'webhooks', ({ webhooks }) => counted(webhooks)),
  columnTo('Users', 'users', ({ users }) => counted(users)),
  columnTo('Keys', 'keys', ({ keys }) => counted(keys)),
  columnTo('Deliveries', 'deliveries', () => 'Show'),
  columnTo('Audit', 'audit', () => 'Show'),
]

export function TenantsScreen() {
  const { may } = useSession()
  const [linking, setLinking] = useState<string>()
  const list = useList('tenants.list', FILTERS, ({ tenant, search }) =>
    tenant ? { after: justBefore(tenant), limit: 1 } : { ...(search && { search }) },
  )
  const { pages, values } = list
  const one = values['tenant'] ?? ''
  const rows = pages.rows?.filter(({ tenant }) => one === '' || tenant === one)
  const hasMore = pages.hasMore === true && one === ''
  const portal: Column<TenantSummary> = {
    name: 'Portal',
    kind: 'end',
    cell: ({ tenant }) => (
      <button type="button" class="as-link" onClick={() => setLinking(tenant)}>
        New link <span class="unseen">{`for ${tenant}`}</span>
      </button>
    ),
  }
  return (
    <ListScreen
      title="Tenants"
      about="Customers of the application that have users, keys or webhooks here."
      actions={
        may('tenants:write') && (
          <Button kind="primary" icon="plus" onClick={() => setLinking(one)}>
            New portal link
          </Button>
        )
      }
      list={{ ...list, pages: { ...pages, rows, hasMore } }}
      label="Tenants"
      id={({ tenant }) => tenant}
      columns={may('tenants:write') ? [...COLUMNS, portal] : COLUMNS}
      unmatched="No tenant of that name"
      advice=""
      empty={
        <Empty title="No tenants yet">
          A tenant is there as soon as a user, a key or a webhook has its name.
        </Empty>
      }
    >
      {linking !== undefined && (
        <PortalLinkDialog tenant={linking} onClose={() => setLinking(undefined)} />
      )}
    </ListScreen>
  )
}

/** What the server counts to, at most. */
const MOST_COUNTED = 1000
const counted = (value: number): string =>
  value < MOST_COUNTED ? count(value) : `${count(MOST_COUNTED)}+`

type TenantPath = 'webhooks' | 'users' | 'keys' | 'deliveries' | 'audit'

function TenantLink({
  path,
  tenant,
  text,
  main,
}: {
  path: TenantPath
  tenant: string
  text: string
  main?: boolean
}) {
  const { may } = useSession()
  if (!may(`${path}:read`)) return <bdi>{text}</bdi>
  return (
    <Link
      to={href(path, { tenant })}
      {...(main ? { class: 'main-line' } : { label: `${path} of ${tenant}: ${text}` })}
    >
      <bdi>{text}</bdi>
    </Link>
  )
}
