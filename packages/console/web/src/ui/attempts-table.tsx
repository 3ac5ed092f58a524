/** Deliveries and their attempts as lists: on the screens of deliveries, dead letters, webhooks and events. */
import type { Attempt } from '../server/contract.ts'
import { useWebhook, webhookName } from '../state/names.ts'
import { href } from '../state/router.ts'
import { duration, isDue, plural, shortId } from '../text/format.ts'
import { deliveryState, statusTone, statusWord } from '../text/states.ts'
import { Link } from './button.tsx'
import { Badge, ExactTime, Time } from './facts.tsx'
import type { Column } from './table.tsx'
import { TenantName } from './tenant.tsx'

export const attemptHref = ({ webhookId, deliveryId, id }: Attempt): string =>
  href(`deliveries/${webhookId}/${deliveryId}`, { attempt: id })
/** What is newest of it is shown, also when it is tried again meanwhile. */
const deliveryHref = ({ webhookId, deliveryId }: Attempt): string =>
  href(`deliveries/${webhookId}/${deliveryId}`)

const answerOf = ({ statusCode, error }: Attempt): string =>
  [statusCode, error === 'http' ? null : error].filter((part) => part !== null).join(' ') || '–'

/** A link to the webhook, or to what `to` says. */
export function WebhookName({ id, to }: { id: string; to?: string }) {
  const webhook = useWebhook(id)
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

/** One that is due may wait for its webhook, or for a pause. */
export const NextAttempt = ({ at }: { at: string }) =>
  isDue(at) ? (
    <>next one is due</>
  ) : (
    <>
      next <Time at={at} />
    </>
  )

const eventColumn = (to: (row: Attempt) => string): Column<Attempt> => ({
  name: 'Event',
  kind: 'main',
  bare: true,
  cell: (row) => (
    <>
      <Link to={to(row)} class="main-line mono">
        <bdi>{row.event}</bdi>
      </Link>
      <span class="sub-line">
        {row.isTest && 'A test '}
        {row.eventId && (
          <bdi class="mono" title={row.eventId}>
            {shortId(row.eventId)}
          </bdi>
        )}
      </span>
    </>
  ),
})
const WEBHOOK: Column<Attempt> = {
  name: 'Webhook',
  cell: ({ webhookId }) => <WebhookName id={webhookId} />,
}
const ANSWER: Column<Attempt> = {
  name: 'Answer',
  cell: (row) => <span class="mono">{answerOf(row)}</span>,
}
/** How long ago, and when: a title alone is not read on a phone, and not by the keyboard. */
const when = (name: string): Column<Attempt> => ({
  name,
  kind: 'end',
  cell: ({ attemptedAt }) => (
    <span class="both">
      <Time at={attemptedAt} />{' '}
      <span class="sub-line">
        <ExactTime at={attemptedAt} />
      </span>
    </span>
  ),
})

/** Of a delivery, by its latest attempt. */
const DELIVERY_COLUMNS = {
  event: eventColumn(deliveryHref),
  webhook: WEBHOOK,
  tenant: {
    name: 'Tenant',
    operators: true,
    isLeast: true,
    cell: ({ eventTenant = null }) => eventTenant !== null && <TenantName of={eventTenant} />,
  },
  status: {
    name: 'State',
    kind: 'state',
    cell: (row) => {
      const { tone, word } = deliveryState(row)
      return (
        <span class="both">
          <Badge tone={tone}>{word}</Badge>{' '}
          {row.status === 'failed' && row.nextAttemptAt && (
            <span class="sub-line">
              <NextAttempt at={row.nextAttemptAt} />
            </span>
          )}
        </span>
      )
    },
  },
  answer: ANSWER,
  attempts: {
    name: 'Attempts',
    kind: 'end',
    bare: true,
    // One that was skipped was not made.
    cell: ({ attempt, status }) => plural(status === 'skipped' ? attempt - 1 : attempt, 'attempt'),
  },
  at: when('Last tried'),
} satisfies Record<string, Column<Attempt>>

const ATTEMPT_COLUMNS = {
  event: eventColumn(attemptHref),
  delivery: {
    name: 'Delivery',
    isLeast: true,
    cell: ({ deliveryId }) => <span class="faint mono">{shortId(deliveryId)}</span>,
  },
  webhook: WEBHOOK,
  status: {
    name: 'State',
    kind: 'state',
    cell: ({ status }) => <Badge tone={statusTone(status)}>{statusWord(status)}</Badge>,
  },
  answer: ANSWER,
  attempt: { name: 'Attempt', kind: 'end', cell: ({ attempt }) => attempt },
  took: { name: 'Took', kind: 'end', cell: ({ durationMs }) => duration(durationMs) },
  at: when('Tried'),
} satisfies Record<string, Column<Attempt>>

const tableOf =
  <Name extends string>(
    label: string,
    columns: Record<Name, Column<Attempt>>,
    to: (row: Attempt) => string,
  ) =>
  (without: readonly Name[] = [], first?: Column<Attempt> | false) => ({
    label,
    columns: [
      ...(first ? [first] : []),
      ...(Object.entries(columns) as [Name, Column<Attempt>][])
        .filter(([name]) => !without.includes(name))
        .map(([, column]) => column),
    ] as readonly Column<Attempt>[],
    to,
  })

export const deliveriesTable = tableOf('Deliveries', DELIVERY_COLUMNS, deliveryHref)
export const attemptsTable = tableOf('Attempts', ATTEMPT_COLUMNS, attemptHref)

/** Where all deliveries are of one event: the webhook leads the row. */
export const TO_WEBHOOK: Column<Attempt> = {
  name: 'Webhook',
  kind: 'main',
  bare: true,
  cell: (row) => <WebhookName id={row.webhookId} to={deliveryHref(row)} />,
}
