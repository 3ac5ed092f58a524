import { useState } from 'preact/hooks'
import { useSession } from '../shell/session.ts'
import { useFilters } from '../state/router.ts'
import { DELIVERY_STATES, STATUSES } from '../text/states.ts'
import { Button } from '../ui/button.tsx'
import { RecoverMany } from './webhooks/recover-dialog.tsx'
import { attemptsTable, deliveriesTable } from '../ui/attempts-table.tsx'
import { CsvButton } from '../ui/csv.tsx'
import { EVENT, SPAN, TENANT, WEBHOOK } from '../ui/filters.tsx'
import { ListScreen, useList } from '../ui/list-screen.tsx'
import { Empty } from '../ui/notes.tsx'
import { Segments } from '../ui/segments.tsx'

const FILTERS = [
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

const ROWS = { '': 'Deliveries', attempts: 'Attempts' } as const

/** A row for each delivery, by its latest attempt, or for each attempt. */
export function DeliveriesScreen() {
  const { may } = useSession()
  const [asking, setAsking] = useState(false)
  const { values, set } = useFilters(['rows'])
  const isEach = values.rows === 'attempts'
  const choices = isEach ? STATUSES : DELIVERY_STATES
  const list = useList(
    'deliveries.list',
    [{ name: 'status', label: 'State', choices }, ...FILTERS],
    ({ statusCode, ...given }) => ({
      ...given,
      ...(!isEach && { latest: true }),
      ...(statusCode && { statusCode: Number(statusCode) }),
    }),
  )
  return (
    <ListScreen
      title="Deliveries"
      about={
        isEach
          ? 'Every attempt to send an event to a webhook, newest first.'
          : 'Each event on its way to a webhook, as its latest attempt left it.'
      }
      actions={
        <>
          <Segments
            label="A row for each"
            names={ROWS}
            chosen={isEach ? 'attempts' : ''}
            onChosen={(rows) => set({ rows })}
          />
          <CsvButton list={list} />
          {may('deliveries:write') && <Button onClick={() => setAsking(true)}>Recover</Button>}
        </>
      }
      list={list}
      {...(isEach ? attemptsTable() : deliveriesTable())}
      unmatched="Nothing matches these filters"
      advice="Clear some of them to see more."
      empty={
        <Empty title="No deliveries yet">
          They appear here when an event is published that a webhook asks for.
        </Empty>
      }
    >
      {asking && (
        <RecoverMany tenant={list.values['tenant'] ?? ''} onClose={() => setAsking(false)} />
      )}
    </ListScreen>
  )
}
