import { STATUSES } from '../text/states.ts'
import { attemptsTable } from '../ui/attempts-table.tsx'
import { EVENT, SPAN, TENANT, WEBHOOK } from '../ui/filters.tsx'
import { ListScreen, useList } from '../ui/list-screen.tsx'
import { Empty } from '../ui/notes.tsx'

const FILTERS = [
  { name: 'status', label: 'State', choices: STATUSES },
  EVENT,
  WEBHOOK,
  { ...TENANT, more: true },
  {
    name: 'statusCode',
    label: 'Status code',
    read: (typed: string) => typed.replace(/\D/g, ''),
    more: true,
  },
  { name: 'eventId', label: 'Event id', more: true },
  { name: 'deliveryId', label: 'Delivery id', more: true },
  ...SPAN,
]

export const DeliveriesScreen = () => (
  <ListScreen
    title="Deliveries"
    about="Every attempt to send an event to a webhook, newest first."
    list={useList('deliveries.list', FILTERS, ({ statusCode, ...given }) => ({
      ...given,
      ...(statusCode && { statusCode: Number(statusCode) }),
    }))}
    {...attemptsTable(['next'])}
    unmatched="Nothing matches these filters"
    advice="Clear some of them to see more."
    empty={
      <Empty title="No deliveries yet">
        They appear here when an event is published that a webhook asks for.
      </Empty>
    }
  />
)
