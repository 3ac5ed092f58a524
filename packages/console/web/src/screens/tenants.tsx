import { useState } from 'preact/hooks'
import type { TenantSummary } from '../server/contract.ts'
import { call } from '../server/call.ts'
import { useSession } from '../shell/session.ts'
import { href, useFilters } from '../state/router.ts'
import { usePages } from '../state/use-pages.ts'
import { count } from '../text/format.ts'
import { Button, Link } from '../ui/button.tsx'
import { FilterBar, TextFilter } from '../ui/filter-bar.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Empty } from '../ui/notes.tsx'
import { PagedTable } from '../ui/table.tsx'
import { PortalLinkDialog } from './portal-link-dialog.tsx'

export function TenantsScreen() {
  const { may } = useSession()
  const { values, set, any } = useFilters(['tenant'])
  const [linking, setLinking] = useState<string>()
  const pages = usePages(
    values.tenant,
    (after = justBefore(values.tenant), signal) =>
      call('tenants.list', { ...(after && { after }) }, signal),
    ['users', 'keys', 'webhooks'],
  )
  const rows = pages.rows?.filter(({ tenant }) => tenant.startsWith(values.tenant))
  // They are sorted by name: after the first name without the prefix there is no other with it.
  const hasMore = pages.hasMore && rows?.length === pages.rows?.length
  return (
    <Screen
      title="Tenants"
      about="Customers of the application that have users, keys or webhooks here."
      actions={
        may('tenants:write') && (
          <Button kind="primary" icon="plus" onClick={() => setLinking(values.tenant)}>
            New portal link
          </Button>
        )
      }
    >
      <FilterBar any={any} onClear={() => set({ tenant: '' })}>
        <TextFilter
          label="Begins with"
          value={values.tenant}
          onValue={(tenant) => set({ tenant })}
          placeholder="All"
        />
      </FilterBar>
      <Panel flush>
        <PagedTable
          label="Tenants"
          pages={{ ...pages, rows, hasMore }}
          id={({ tenant }) => tenant}
          columns={[
            {
              name: 'Tenant',
              kind: 'main',
              bare: true,
              cell: ({ tenant }) => (
                <TenantLink path="webhooks" tenant={tenant} text={tenant} main />
              ),
            },
            {
              name: 'Webhooks',
              kind: 'end',
              cell: ({ tenant, webhooks }) => (
                <TenantLink path="webhooks" tenant={tenant} text={counted(webhooks)} />
              ),
            },
            {
              name: 'Users',
              kind: 'end',
              cell: ({ tenant, users }) => (
                <TenantLink path="users" tenant={tenant} text={counted(users)} />
              ),
            },
            {
              name: 'Keys',
              kind: 'end',
              cell: ({ tenant, keys }) => (
                <TenantLink path="keys" tenant={tenant} text={counted(keys)} />
              ),
            },
            {
              name: 'Deliveries',
              kind: 'end',
              cell: ({ tenant }) => <TenantLink path="deliveries" tenant={tenant} text="Show" />,
            },
            {
              name: 'Audit',
              kind: 'end',
              cell: ({ tenant }) => <TenantLink path="audit" tenant={tenant} text="Show" />,
            },
            ...(may('tenants:write')
              ? [
                  {
                    name: 'Portal',
                    kind: 'end' as const,
                    cell: ({ tenant }: TenantSummary) => (
                      <button type="button" class="as-link" onClick={() => setLinking(tenant)}>
                        Link <span class="unseen">{`for ${tenant}`}</span>
                      </button>
                    ),
                  },
                ]
              : []),
          ]}
          empty={
            any ? (
              <Empty title="No tenant of that name" />
            ) : (
              <Empty title="No tenants yet">
                A tenant is there as soon as a user, a key or a webhook has its name.
              </Empty>
            )
          }
        />
      </Panel>
      {linking !== undefined && (
        <PortalLinkDialog tenant={linking} onClose={() => setLinking(undefined)} />
      )}
    </Screen>
  )
}

/** A text that all names which begin so follow, and nothing else before them: names are ASCII. */
const justBefore = (start: string): string =>
  start &&
  `${start.slice(0, -1)}${String.fromCharCode(start.charCodeAt(start.length - 1) - 1)}~`.slice(
    0,
    64,
  )

/** What the server counts to, at most. */
const MOST_COUNTED = 1000
const counted = (value: number): string =>
  value < MOST_COUNTED ? count(value) : `${count(MOST_COUNTED)}+`

function TenantLink({
  path,
  tenant,
  text,
  main,
}: {
  path: 'webhooks' | 'users' | 'keys' | 'deliveries' | 'audit'
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
