/** Attempts of deliveries as a list: on the screens of deliveries, dead letters, webhooks and events. */
import type { Attempt } from '../server/contract.ts'
import { useWebhooks, webhookName } from '../state/names.ts'
import { href } from '../state/router.ts'
import { duration, shortId } from '../text/format.ts'
import { statusTone, statusWord } from '../text/states.ts'
import { Link } from './button.tsx'
import { Badge, Time } from './facts.tsx'
import type { Column } from './table.tsx'

export const deliveryHref = ({ webhookId, deliveryId, id }: Attempt): string =>
  href(`deliveries/${webhookId}/${deliveryId}`, { attempt: id })

const answerOf = ({ statusCode, error }: Attempt): string =>
  [statusCode, error === 'http' ? null : error].filter((part) => part !== null).join(' ') || '–'

/** A link to the webhook, or to what `to` says. */
export function WebhookName({ id, to }: { id: string; to?: string }) {
  const webhook = useWebhooks().find(id)
  const name = <bdi>{webhook ? webhookName(webhook) : shortId(id)}</bdi>
  if (to)
    return (
      <Link to={to} class="main-line">
        {name}
      </Link>
    )
  return (
    <Link to={href(`webhooks/${id}`)} class={webhook ? 'cut' : 'mono'}>
      <span class="unseen">webhook </span>
      {name}
    </Link>
  )
}

const COLUMNS = {
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
  webhook: { name: 'Webhook', cell: ({ webhookId }) => <WebhookName id={webhookId} /> },
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
} satisfies Record<string, Column<Attempt>>

export const attemptsTable = (
  without: readonly (keyof typeof COLUMNS)[],
  first?: Column<Attempt> | false,
) => ({
  label: 'Attempts',
  columns: [
    ...(first ? [first] : []),
    ...Object.entries(COLUMNS)
      .filter(([name]) => !without.includes(name as keyof typeof COLUMNS))
      .map(([, column]) => column),
  ] as readonly Column<Attempt>[],
  to: deliveryHref,
})

/** Where all attempts are of one event: the webhook leads the row. */
export const TO_WEBHOOK: Column<Attempt> = {
  name: 'Webhook',
  kind: 'main',
  bare: true,
  cell: (row) => <WebhookName id={row.webhookId} to={deliveryHref(row)} />,
}
