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
    'tenants',
    (after, signal) => call('tenants.list', { limit: 200, ...(after && { after }) }, signal),
    ['users', 'keys', 'webhooks'],
  )
  const wanted = values.tenant.toLowerCase()
  const rows = pages.rows?.filter(({ tenant }) => tenant.toLowerCase().includes(wanted))
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
          label="Tenant"
          value={values.tenant}
          onValue={(tenant) => set({ tenant })}
          placeholder="All"
        />
      </FilterBar>
      <Panel flush>
        <PagedTable
          label="Tenants"
          pages={{ ...pages, rows }}
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
                <TenantLink path="webhooks" tenant={tenant} text={count(webhooks)} />
              ),
            },
            {
              name: 'Users',
              kind: 'end',
              cell: ({ tenant, users }) => (
                <TenantLink path="users" tenant={tenant} text={count(users)} />
              ),
            },
            {
              name: 'Keys',
              kind: 'end',
              cell: ({ tenant, keys }) => (
                <TenantLink path="keys" tenant={tenant} text={count(keys)} />
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
                      <Button kind="quiet" onClick={() => setLinking(tenant)}>
                        Link <span class="unseen">{`for ${tenant}`}</span>
                      </Button>
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
