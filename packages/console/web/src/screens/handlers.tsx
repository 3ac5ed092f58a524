import { useState } from 'preact/hooks'
import type { RowOf } from '../state/queries.ts'
import { useChange } from '../state/queries.ts'
import { plural } from '../text/format.ts'
import { Button, Link } from '../ui/button.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { Time } from '../ui/facts.tsx'
import { EVENT, SPAN } from '../ui/filters.tsx'
import { ListScreen, useList } from '../ui/list-screen.tsx'
import { Empty, ProblemNote } from '../ui/notes.tsx'
import { TenantName } from '../ui/tenant.tsx'
import { say } from '../ui/toasts.tsx'
import { eventHref } from './events.tsx'

type Letter = RowOf<'handlers.list'>

const FILTERS = [{ name: 'subscription', label: 'Subscription' }, EVENT, ...SPAN]

export function HandlersScreen() {
  const [asking, setAsking] = useState(false)
  const list = useList('handlers.list', FILTERS)
  const subscription = list.values['subscription'] ?? ''
  const again = useChange('handlers.redrive', () => say('It is handled again'))
  const deletion = useChange('handlers.delete', () => say('Dead letter deleted'))
  const problem = again.problem ?? deletion.problem
  const buttons = ({ id, subscription: of }: Letter) => (
    <>
      <Button
        busy={again.busy && again.input?.ids?.[0] === id}
        onClick={() => again.run({ subscription: of, ids: [id] })}
      >
        Handle again
      </Button>{' '}
      <Button
        busy={deletion.busy && deletion.input?.id === id}
        onClick={() => deletion.run({ id })}
      >
        Delete
      </Button>
    </>
  )
  return (
    <ListScreen
      title="Handlers"
      about="Events that a handler of this host has not handled after all its attempts. Mend the handler, then have them handled again."
      actions={
        subscription && (
          <Button onClick={() => setAsking(true)}>Handle all of this subscription again</Button>
        )
      }
      list={list}
      label="Dead letters of handlers"
      columns={[
        { name: 'Event', kind: 'main', bare: true, cell: (row) => <Event of={row} /> },
        { name: 'Tenant', cell: ({ tenant }) => <TenantName of={tenant} /> },
        { name: 'Error', cell: ({ error }) => error ?? 'hidden' },
        { name: 'Attempts', kind: 'end', cell: ({ attempts }) => String(attempts) },
        { name: 'Since', kind: 'end', cell: ({ deadAt }) => <Time at={deadAt} /> },
        { name: 'Do', kind: 'end', bare: true, cell: buttons },
      ]}
      unmatched="Nothing matches these filters"
      empty={
        <Empty title="No dead letters">Every event was handled, or is still being tried.</Empty>
      }
    >
      {problem && <ProblemNote problem={problem} />}
      {asking && (
        <FormDialog
          title={`Handle all of ${subscription} again`}
          submit="Handle all again"
          call="handlers.redrive"
          input={() => ({ subscription })}
          done={({ redriven }) => `${plural(redriven, 'event', 'events')} handled again`}
          onClose={() => setAsking(false)}
        >
          <p>Each gets all its attempts. Whatever the handler still refuses comes back here.</p>
        </FormDialog>
      )}
    </ListScreen>
  )
}

const Event = ({ of: { event, eventId, tenant, subscription } }: { of: Letter }) => (
  <>
    <Link to={eventHref({ name: event, id: eventId, tenant })} class="main-line mono">
      <bdi>{event}</bdi>
    </Link>
    <bdi class="sub-line">{subscription}</bdi>
  </>
)
