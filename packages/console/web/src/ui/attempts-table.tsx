/** Attempts of deliveries as a list: on the screens of deliveries, dead letters, webhooks and events. */
import type { ComponentChildren } from 'preact'
import type { Attempt, Webhook } from '../server/contract.ts'
import { href } from '../state/router.ts'
import type { Pages } from '../state/use-pages.ts'
import { duration, shortId } from '../text/format.ts'
import { statusTone, statusWord } from '../text/states.ts'
import { useWebhooks, webhookName } from '../screens/use-webhooks.ts'
import { Link } from './button.tsx'
import { Badge, Time } from './facts.tsx'
import { PagedTable, type Column } from './table.tsx'
import { WebhookName } from './webhook-filter.tsx'

export const deliveryHref = ({ webhookId, deliveryId, id }: Attempt, attempt = true): string =>
  href(`deliveries/${webhookId}/${deliveryId}`, attempt ? { attempt: id } : {})

export const answerOf = ({ statusCode, error }: Attempt): string =>
  [statusCode, error === 'http' ? null : error].filter((part) => part !== null).join(' ') || '–'

type ColumnName =
  | 'event'
  | 'delivery'
  | 'webhook'
  | 'status'
  | 'answer'
  | 'attempt'
  | 'took'
  | 'next'
  | 'at'

const columnsFor = (
  webhook: (id: string) => Webhook | undefined,
): Record<ColumnName, Column<Attempt>> => ({
  event: {
    name: 'Event',
    kind: 'main',
    bare: true,
    cell: (row) => (
      <Link to={deliveryHref(row)} class="main-line mono">
        <bdi>{row.event}</bdi>
      </Link>
    ),
  },
  delivery: {
    name: 'Delivery',
    cell: ({ deliveryId }) => <span class="faint mono">{shortId(deliveryId)}</span>,
  },
  webhook: {
    name: 'Webhook',
    cell: ({ webhookId }) => <WebhookName id={webhookId} webhook={webhook(webhookId)} />,
  },
  status: {
    name: 'State',
    kind: 'state',
    cell: ({ status }) => <Badge tone={statusTone(status)}>{statusWord(status)}</Badge>,
  },
  answer: { name: 'Answer', cell: (row) => <span class="mono">{answerOf(row)}</span> },
  attempt: { name: 'Attempt', kind: 'end', cell: ({ attempt }) => attempt },
  took: { name: 'Took', kind: 'end', cell: ({ durationMs }) => duration(durationMs) },
  next: {
    name: 'Next',
    kind: 'end',
    cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} none="–" />,
  },
  at: { name: 'Tried', kind: 'end', cell: ({ attemptedAt }) => <Time at={attemptedAt} /> },
})

export function AttemptsTable({
  pages,
  empty,
  without = [],
  first,
}: {
  pages: Pages<Attempt>
  empty: ComponentChildren
  without?: readonly ColumnName[]
  first?: Column<Attempt>
}) {
  const { find } = useWebhooks()
  const columns = Object.entries(columnsFor(find))
    .filter(([name]) => !without.includes(name as ColumnName))
    .map(([, column]) => column)
  return (
    <PagedTable
      label="Attempts"
      pages={pages}
      columns={first ? [first, ...columns] : columns}
      id={({ id }) => id}
      to={(row) => deliveryHref(row)}
      empty={empty}
    />
  )
}

/** Where all attempts are of one event: the webhook leads the row. */
export const TO_WEBHOOK: Column<Attempt> = {
  name: 'Webhook',
  kind: 'main',
  bare: true,
  cell: (row) => <DeliveryTo row={row} />,
}

function DeliveryTo({ row }: { row: Attempt }) {
  const webhook = useWebhooks().find(row.webhookId)
  return (
    <Link to={deliveryHref(row)} class="main-line">
      <bdi>{webhook ? webhookName(webhook) : shortId(row.webhookId)}</bdi>
    </Link>
  )
}
