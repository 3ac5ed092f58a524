import type { CallInput, Webhook } from '../../server/contract.ts'
import { call } from '../../server/call.ts'
import { useSession } from '../../shell/session.ts'
import { href, useFilters } from '../../state/router.ts'
import { usePages } from '../../state/use-pages.ts'
import { webhookState } from '../../text/states.ts'
import { ButtonLink, Link } from '../../ui/button.tsx'
import { Badge, Tags, Time } from '../../ui/facts.tsx'
import { Panel, Screen } from '../../ui/layout.tsx'
import { ChoiceFilter, FilterBar } from '../../ui/filter-bar.tsx'
import { Empty } from '../../ui/notes.tsx'
import { PagedTable, type Column } from '../../ui/table.tsx'
import { TenantFilter, TenantName } from '../../ui/tenant.tsx'

type WebhookQuery = CallInput<'webhooks.list'>

const STATES = [
  { value: 'active', label: 'Active' },
  { value: 'failing', label: 'Failing' },
  { value: 'paused', label: 'Paused' },
  { value: 'disabled', label: 'Disabled' },
]

export function WebhooksScreen() {
  const { session, may } = useSession()
  const { values, set, clear, given, any } = useFilters(['tenant', 'state'])
  const pages = usePages(
    JSON.stringify(given),
    (after, signal) =>
      call('webhooks.list', { ...(given as WebhookQuery), ...(after && { after }) }, signal),
    ['webhooks'],
  )
  const add = may('webhooks:write') && (
    <ButtonLink to={href('webhooks/new', { tenant: given.tenant })} kind="primary" icon="plus">
      New webhook
    </ButtonLink>
  )
  const columns = session.operator ? COLUMNS : COLUMNS.filter(({ name }) => name !== 'Tenant')
  return (
    <Screen title="Webhooks" about="Addresses that events are sent to." actions={add}>
      <FilterBar any={any} onClear={clear}>
        <TenantFilter value={values.tenant} onValue={(tenant) => set({ tenant })} />
        <ChoiceFilter
          label="State"
          value={values.state}
          choices={STATES}
          onValue={(state) => set({ state })}
        />
      </FilterBar>
      <Panel flush>
        <PagedTable
          label="Webhooks"
          pages={pages}
          id={({ id }) => id}
          to={({ id }) => href(`webhooks/${id}`)}
          columns={columns}
          empty={
            any ? (
              <Empty title="No webhook matches">Clear some of the filters to see more.</Empty>
            ) : (
              <Empty title="No webhooks yet" action={add}>
                A webhook is an address and the events that it wants. Its deliveries are signed,
                retried and logged.
              </Empty>
            )
          }
        />
      </Panel>
    </Screen>
  )
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    name: 'Webhook',
    kind: 'main',
    bare: true,
    cell: ({ id, label, url }) => (
      <>
        <Link to={href(`webhooks/${id}`)} class="main-line">
          <bdi>{label ?? url}</bdi>
        </Link>
        {label && <bdi class="sub-line mono">{url}</bdi>}
      </>
    ),
  },
  {
    name: 'State',
    kind: 'state',
    cell: (row) => {
      const { tone, word } = webhookState(row)
      return <Badge tone={tone}>{word}</Badge>
    },
  },
  { name: 'Events', cell: ({ events }) => <Tags of={events} most={2} /> },
  { name: 'Tenant', cell: ({ tenant }) => <TenantName of={tenant} /> },
  {
    name: 'Last success',
    kind: 'end',
    cell: ({ lastSuccessAt }) => <Time at={lastSuccessAt} none="–" />,
  },
  { name: 'Created', kind: 'end', cell: ({ createdAt }) => <Time at={createdAt} /> },
]
