import { useState } from 'preact/hooks'
import type { ApiKey, CallInput } from '../../server/contract.ts'
import { call } from '../../server/call.ts'
import { useSession } from '../../shell/session.ts'
import { href, useFilters } from '../../state/router.ts'
import { usePages, type Pages } from '../../state/use-pages.ts'
import { keyState } from '../../text/states.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Badge, Tags, Time } from '../../ui/facts.tsx'
import { ChoiceFilter, FilterBar, TextFilter } from '../../ui/filter-bar.tsx'
import { Panel, Screen } from '../../ui/layout.tsx'
import { Empty } from '../../ui/notes.tsx'
import { PagedTable, type Column } from '../../ui/table.tsx'
import { TenantFilter, TenantName } from '../../ui/tenant.tsx'
import { NewKeyDialog } from './new-key.tsx'

const FILTERS = ['state', 'prefix', 'userId', 'tenant', 'unusedSince'] as const
const STATES = ['active', 'disabled', 'expired', 'revoked'].map((value) => ({
  value,
  label: value.replace(/^./, (first) => first.toUpperCase()),
}))

const UNUSED = ['1', '7', '30', '90'].map((days) => ({
  value: days,
  label: days === '1' ? 'Unused for a day' : `Unused for ${days} days`,
}))
const DAY_MS = 86_400_000

const daysAgo = (days: number): string =>
  new Date(Math.floor(Date.now() / 60_000) * 60_000 - days * DAY_MS).toISOString()
const daysSince = (iso: string): string =>
  iso && String(Math.round((Date.now() - new Date(iso).getTime()) / DAY_MS))

export function KeysScreen() {
  const { may } = useSession()
  const { values, set, clear, given, any } = useFilters(FILTERS)
  const [making, setMaking] = useState(false)
  const pages = usePages(
    JSON.stringify(given),
    (after, signal) =>
      call('keys.list', { ...(given as CallInput<'keys.list'>), ...(after && { after }) }, signal),
    ['keys'],
  )
  const add = may('keys:write') && (
    <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
      New key
    </Button>
  )
  return (
    <Screen title="API keys" about="Who may call the application, and what with." actions={add}>
      <FilterBar
        any={any}
        onClear={clear}
        moreUsed={Boolean(values.userId || values.prefix)}
        more={
          <>
            <TextFilter
              label="Begins with"
              value={values.prefix}
              onValue={(prefix) => set({ prefix: prefix.slice(0, 8) })}
              placeholder="svc_…"
            />
            <TextFilter
              label="User id"
              value={values.userId}
              onValue={(userId) => set({ userId })}
              placeholder="Any"
            />
          </>
        }
      >
        <ChoiceFilter
          label="State"
          value={values.state}
          choices={STATES}
          onValue={(state) => set({ state })}
        />
        <ChoiceFilter
          label="Use"
          value={daysSince(values.unusedSince)}
          choices={UNUSED}
          onValue={(days) => set({ unusedSince: days && daysAgo(Number(days)) })}
        />
        <TenantFilter value={values.tenant} onValue={(tenant) => set({ tenant })} />
      </FilterBar>
      <Panel flush>
        <KeysTable
          pages={pages}
          empty={
            any ? (
              <Empty title="No key matches">Clear some of the filters to see more.</Empty>
            ) : (
              <Empty title="No keys yet" action={add}>
                A key belongs to a user, and has scopes, limits and an expiry of its own.
              </Empty>
            )
          }
        />
      </Panel>
      {making && (
        <NewKeyDialog
          userId={values.userId}
          onClose={() => setMaking(false)}
          onMade={pages.reload}
        />
      )}
    </Screen>
  )
}

const COLUMNS: readonly Column<ApiKey>[] = [
  {
    name: 'Key',
    kind: 'main',
    bare: true,
    cell: ({ id, label, keyPrefix }) => (
      <>
        <Link to={href(`keys/${id}`)} class="main-line">
          {label ? <bdi>{label}</bdi> : <span class="mono">{`${keyPrefix}…`}</span>}
        </Link>
        {label && <span class="sub-line mono">{`${keyPrefix}…`}</span>}
      </>
    ),
  },
  {
    name: 'State',
    kind: 'state',
    cell: (row) => <Badge tone={keyState(row).tone}>{keyState(row).word}</Badge>,
  },
  { name: 'Scopes', cell: ({ scopes }) => <Tags of={scopes} most={2} /> },
  { name: 'Tenant', cell: ({ tenant }) => <TenantName of={tenant} /> },
  { name: 'Expires', kind: 'end', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  { name: 'Last used', kind: 'end', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
]

export function KeysTable({
  pages,
  empty,
}: {
  pages: Pages<ApiKey>
  empty: preact.ComponentChildren
}) {
  const { session } = useSession()
  return (
    <PagedTable
      label="API keys"
      pages={pages}
      id={({ id }) => id}
      to={({ id }) => href(`keys/${id}`)}
      columns={session.operator ? COLUMNS : COLUMNS.filter(({ name }) => name !== 'Tenant')}
      empty={empty}
    />
  )
}
