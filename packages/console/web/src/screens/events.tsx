import { useState } from 'preact/hooks'
import type { PublishedEvent } from '../server/contract.ts'
import { useSession } from '../shell/session.ts'
import { href } from '../state/router.ts'
import { bytes, shortId } from '../text/format.ts'
import { Button, Link } from '../ui/button.tsx'
import { Time } from '../ui/facts.tsx'
import { EVENT, SPAN, TENANT } from '../ui/filters.tsx'
import { ListScreen, useList } from '../ui/list-screen.tsx'
import { Empty } from '../ui/notes.tsx'
import type { Column } from '../ui/table.tsx'
import { TenantName } from '../ui/tenant.tsx'
import { FeedDialog } from './feed-dialog.tsx'

const FILTERS = [
  { ...EVENT, name: 'name', label: 'Name' },
  { name: 'id', label: 'Event id' },
  { name: 'text', label: 'In the payload', placeholder: '3 characters or more' },
  { ...TENANT, more: true },
  ...SPAN,
]

type EventName = Pick<PublishedEvent, 'name' | 'id' | 'tenant'>

export const eventHref = ({ name, id, tenant }: EventName): string =>
  href(`events/${encodeURIComponent(name)}/${encodeURIComponent(id)}`, {
    tenant: tenant ?? undefined,
  })

const COLUMNS: readonly Column<PublishedEvent>[] = [
  {
    name: 'Event',
    kind: 'main',
    bare: true,
    cell: (row) => (
      <>
        <Link to={eventHref(row)} class="main-line mono">
          <bdi>{row.name}</bdi>
        </Link>
        <bdi class="sub-line mono" title={row.id}>
          {shortId(row.id)}
        </bdi>
      </>
    ),
  },
  { name: 'Tenant', cell: ({ tenant }) => <TenantName of={tenant} /> },
  { name: 'Size', kind: 'end', cell: (row) => bytes(row.bytes) },
  { name: 'Published', kind: 'end', cell: ({ publishedAt }) => <Time at={publishedAt} /> },
]

export function EventsScreen() {
  const { session } = useSession()
  const { searchesPayloads, feed } = session
  const [reading, setReading] = useState(false)
  const list = useList('events.list', FILTERS)
  const filters = FILTERS.filter(({ name }) => searchesPayloads || name !== 'text')
  return (
    <ListScreen
      title="Events"
      about="What the application published. Open one to see what came of it."
      actions={feed !== null && <Button onClick={() => setReading(true)}>Read the feed</Button>}
      list={{ ...list, filters }}
      label="Events"
      id={({ name, id, tenant }) => `${tenant}/${name}/${id}`}
      to={eventHref}
      columns={COLUMNS}
      unmatched="No event matches"
      empty={
        <Empty title="No events yet">
          They appear here when the application publishes them
          {session.operator && (
            <>
              {' '}
              with <code>svc.events.publish</code>
            </>
          )}
          .
        </Empty>
      }
    >
      {reading && feed !== null && <FeedDialog path={feed} onClose={() => setReading(false)} />}
    </ListScreen>
  )
}
