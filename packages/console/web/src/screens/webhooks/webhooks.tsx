import type { Webhook } from '../../server/contract.ts'
import { useSession } from '../../shell/session.ts'
import { webhookName } from '../../state/names.ts'
import { href } from '../../state/router.ts'
import { webhookState } from '../../text/states.ts'
import { ButtonLink, Link } from '../../ui/button.tsx'
import { Badge, Tags, Time } from '../../ui/facts.tsx'
import { choicesOf } from '../../ui/field.tsx'
import { SEARCH, TENANT } from '../../ui/filters.tsx'
import { ListScreen, useList } from '../../ui/list-screen.tsx'
import { Empty } from '../../ui/notes.tsx'
import type { Column } from '../../ui/table.tsx'
import { TenantName } from '../../ui/tenant.tsx'

const FILTERS = [
  { ...SEARCH, label: 'Name or address' },
  TENANT,
  {
    name: 'state',
    label: 'State',
    choices: choicesOf(['Active', 'Failing', 'Paused', 'Disabled']),
  },
]

const webhookHref = ({ id }: Webhook): string => href(`webhooks/${id}`)

const COLUMNS: readonly Column<Webhook>[] = [
  {
    name: 'Webhook',
    kind: 'main',
    bare: true,
    cell: (row) => (
      <>
        <Link to={webhookHref(row)} class="main-line">
          <bdi>{webhookName(row)}</bdi>
        </Link>
        {row.label && <bdi class="sub-line mono">{row.url}</bdi>}
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
  { name: 'Tenant', operators: true, cell: ({ tenant }) => <TenantName of={tenant} /> },
  {
    name: 'Last success',
    kind: 'end',
    cell: ({ lastSuccessAt }) => <Time at={lastSuccessAt} none="–" />,
  },
  { name: 'Created', kind: 'end', isLeast: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
]

export function WebhooksScreen() {
  const { may } = useSession()
  const list = useList('webhooks.list', FILTERS)
  const add = may('webhooks:write') && (
    <ButtonLink
      to={href('webhooks/new', { tenant: list.values['tenant'] })}
      kind="primary"
      icon="plus"
    >
      New webhook
    </ButtonLink>
  )
  return (
    <ListScreen
      title="Webhooks"
      about="Addresses that events are sent to."
      actions={add}
      list={list}
      label="Webhooks"
      to={webhookHref}
      columns={COLUMNS}
      unmatched="No webhook matches"
      empty={
        <Empty title="No webhooks yet" action={add}>
          A webhook is an address and the events that it wants. Its deliveries are signed, retried
          and logged.
        </Empty>
      }
    />
  )
}
